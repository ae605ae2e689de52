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
  all = stickslip_mex('formulations');
  if nargin > 0
    list = all(strcmp({all.name}, name));
    if isempty(list)
      error('stickslip:usage', 'ss_formulations: unknown name ''%s''', name);
    end
  elseif nargout > 0
    list = all;
  else
    for i = 1:numel(all)
      fprintf('%-22s %s\n', all(i).name, all(i).summary);
    end
  end
end
