function compare_metrics(told, metrics, tolerance)
% compare_metrics(told, metrics, tolerance)   fails unless a program's metrics are these, relative to the larger of 1 and both
%
% told is what the program says in JSON: a struct of structs with value, which is empty where a metric does not apply.
  names = fieldnames(metrics);
  for i = 1:numel(names)
    theirs = told.(names{i});
    if isstruct(theirs) && isfield(theirs, 'why') && strcmp(theirs.why, 'left out')
      continue
    end
    if isstruct(theirs)
      theirs = theirs.value;
    end
    if isempty(theirs)
      theirs = NaN;
    end
    ours = metrics.(names{i});
    same = (isnan(theirs) && isnan(ours)) || abs(theirs - ours) <= tolerance * max([1, abs(theirs), abs(ours)]);
    if ~same
      error('%s: the program says %.17g, we say %.17g', names{i}, theirs, ours);
    end
  end
end
