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
  if nargin > 0
    list = ss_list('metrics', name);
  elseif nargout > 0
    list = ss_list('metrics');
  else
    ss_list('metrics');
  end
end
