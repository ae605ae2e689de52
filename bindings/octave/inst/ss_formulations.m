function list = ss_formulations(name)
% list = ss_formulations()          the formulations of the library: a struct array with name, summary, reference and options
% one = ss_formulations(name)       one of them
% ss_formulations                   prints names and summaries
%
% Example:
%   list = ss_formulations();
%   list(1).summary
%   one = ss_formulations('stewart-trinkle');
%
% See also ss_solve, ss_problem, ss_judge
  if nargin > 0
    list = ss_list('formulations', name);
  elseif nargout > 0
    list = ss_list('formulations');
  else
    ss_list('formulations');
  end
end
