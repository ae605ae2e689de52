function options = ss_arguments(caller, options, args)
% options = ss_arguments(caller, defaults, varargin of the caller)
%
% Options as a struct, or as names and values. Only names that the defaults have are accepted.
  if numel(args) == 1 && isstruct(args{1})
    given = args{1};
    names = fieldnames(given);
    args = cell(1, 2 * numel(names));
    for i = 1:numel(names)
      args{2 * i - 1} = names{i};
      args{2 * i} = given.(names{i});
    end
  end
  if mod(numel(args), 2) ~= 0
    error('stickslip:usage', '%s: expected options as a struct, or as names and values', caller);
  end
  for i = 1:2:numel(args)
    name = args{i};
    if ~ischar(name) || ~isfield(options, name)
      if ~ischar(name)
        name = '?';
      end
      names = fieldnames(options);
      known = sprintf(', %s', names{:});
      error('stickslip:usage', '%s: unknown option ''%s''; expected one of %s', caller, name, known(3:end));
    end
    options.(args{i}) = args{i + 1};
  end
end
