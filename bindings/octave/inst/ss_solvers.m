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
  all = stickslip_mex('solvers');
  if nargin > 0
    list = all(strcmp({all.name}, name));
    if isempty(list)
      error('stickslip:usage', 'ss_solvers: unknown name ''%s''', name);
    end
  elseif nargout > 0
    list = all;
  else
    for i = 1:numel(all)
      fprintf('%-22s %s\n', all(i).name, all(i).summary);
    end
  end
end
