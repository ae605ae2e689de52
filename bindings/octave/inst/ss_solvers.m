function list = ss_solvers(name)
% list = ss_solvers()          the solvers of the library: a struct array with name, summary, reference, weakness and options
% one = ss_solvers(name)       one of them
% ss_solvers                   prints names and summaries
%
% Example:
%   list = ss_solvers();
%   list(1).summary
%   one = ss_solvers('nsgs');
%
% See also ss_solve, ss_problem, ss_judge
  if nargin > 0
    list = ss_list('solvers', name);
  elseif nargout > 0
    list = ss_list('solvers');
  else
    ss_list('solvers');
  end
end
