function ss_serve(solver, varargin)
% ss_serve(@my_solver)            makes an m-function a solver of the program: for stickslip --solver-command
% ss_serve(@my_solver, options)   laws: cells with those it accepts, of 'free', 'box', 'coupled', 'cone', 'convex'; all by
%                                 default. symmetric, positive_diagonal: true if it needs such a matrix
%
% Reads problems from standard input and writes iterates to standard output, until the input ends (docs/pipe.md). The
% function is the one that ss_solve takes: x = my_solver(problem, report) or x = my_solver(problem). The problem has in
% addition iterations, time_limit (s), seed and options (a text, from --set options=TEXT). What the function prints goes to
% standard error. An error of it is a failed run with its message, and the next problem is served; a crash of Octave, or a
% run that does not end, is a row of the campaign, too.
%
% Example: in a shell, beside two built-in solvers on all frames of a file
%   stickslip bench stack.h5 -o results.db -s mine,nsgs,pgs \
%     --solver-command "mine=octave-cli -q --eval 'pkg load stickslip; ss_serve(@my_solver)'"
%
% See also ss_solve, ss_problem
  names = {'free', 'box', 'coupled', 'cone', 'convex'};
  options = ss_arguments('ss_serve', struct('laws', {names}, 'symmetric', false, 'positive_diagonal', false), varargin);
  if ischar(options.laws)
    options.laws = {options.laws};
  end
  known = ismember(options.laws, names);
  if ~all(known)
    wrong = options.laws(~known);
    error('stickslip:usage', 'ss_serve: unknown law ''%s''', wrong{1});
  end
  laws = sum(2 .^ (find(ismember(names, options.laws)) - 1));
  stickslip_mex('serve_open', laws, 2 * (options.symmetric ~= 0) + 4 * (options.positive_diagonal ~= 0));
  report = @(x) stickslip_mex('serve_iterate', x);
  while true
    problem = stickslip_mex('serve_next');
    if isempty(problem)
      return
    end
    text = '';
    status = 0;
    try
      if nargin(solver) == 1
        x = solver(problem);
      else
        x = solver(problem, report);
      end
      if ~isnumeric(x) || numel(x) ~= numel(problem.b)
        error('stickslip:usage', 'x of the solver: %d numbers, expected %d', numel(x), numel(problem.b));
      end
    catch thrown
      status = 7;
      text = thrown.message;
      x = problem.x0;
    end
    stickslip_mex('serve_done', status, x, text);
  end
end
