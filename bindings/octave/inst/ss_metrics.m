function list = ss_metrics(name)
% list = ss_metrics()          the metrics that judge answers: a struct array with name, unit, summary and definition
% one = ss_metrics(name)       one of them
% ss_metrics                   prints names and summaries
%
% Example:
%   list = ss_metrics();
%   list(1).summary
%   one = ss_metrics('energy');
%
% See also ss_solve, ss_problem, ss_judge
  all = stickslip_mex('metrics');
  if nargin > 0
    list = all(strcmp({all.name}, name));
    if isempty(list)
      error('stickslip:usage', 'ss_metrics: unknown name ''%s''', name);
    end
  elseif nargout > 0
    list = all;
  else
    for i = 1:numel(all)
      fprintf('%-22s %s\n', all(i).name, all(i).summary);
    end
  end
end
