function result = ss_solve(subject, solver, varargin)
% result = ss_solve(frame)                        Coulomb's law, solver chosen automatically
% result = ss_solve(frame, solver)                by a solver of ss_solvers
% result = ss_solve(frame, @my_solver)            by your own: x = my_solver(problem, report)
% result = ss_solve(frame, solver, options)       options as a struct, or as names and values
% result = ss_solve(problem, ...)                 a problem of ss_problem, or a struct with A and b: an LCP
% result = ss_solve(cone, ...)                    a problem without bodies, as in FCLIB files
%
% Options:
%   formulation   'cone'; of frames only, see ss_formulations
%   with          its options: a struct, or a text 'gap_term=zero mu_max=1'
%   set           options of the solver, the same way: 'omega=1.3'
%   stop          'natural_map<1e-8': a gauge of ss_measure or a metric of ss_metrics; 'none'
%   iterations    10000, at most; 0 judges the start
%   time_limit    0 = none, s
%   keep          'answer' of the method, 'last', or 'best:energy' by a gauge
%   guess         where to start: an answer (frames), x (problems)
%   reference     solver of the true answer, for the metrics distance and trust
%   history       false; true records every gauge at every iteration
%   explain       false; true keeps what the solver notes about its decisions
%   skip_exact    false; true leaves out the metric energy_exact, which costs a dense inverse
%   threads       1; 0 = one for each core
%   seed          1
%   plugin        path of a shared object whose solver is meant; it runs in a process of its own
%
% Result: status, converged, iterations, kept_iteration, time (s, of the solve), elapsed, x, gauges, history, notes;
% of frames also velocities, lambda, normal, tangent, metrics, contacts, formulation, with. A frame that is not
% solved is no error: look at status, and at metrics.
%
% Your own solver gets a problem as ss_problem describes it, with the start in problem.x0. If it calls
% go_on = report(x) at each iteration, stop rule, limits, history and the best iterate work as for the others, and
% it should return when go_on is false. It returns its x. Its errors are passed on.
%
% Ctrl-C stops a run.
%
% Example:
%   result = ss_solve(frame, 'nsgs', 'stop', 'energy<1e-6', 'history', true);
%   semilogy(result.history.energy)
%   mine = ss_solve(frame, @(problem, report) my_jacobi(problem, report), 'formulation', 'box');
%
% See also ss_solvers, ss_problem, ss_judge, ss_serve
  subject = ss_subject(subject);
  if nargin < 2 || isempty(solver)
    solver = 'auto';
  end
  defaults = struct('formulation', '', 'with', '', 'set', '', 'stop', '', 'iterations', 10000, 'time_limit', 0, ...
                    'keep', '', 'guess', [], 'reference', '', 'history', false, 'explain', false, ...
                    'skip_exact', false, 'threads', 1, 'seed', 1, 'plugin', '');
  request = ss_arguments('ss_solve', defaults, varargin);
  request.with = ss_text(request.with);
  request.set = ss_text(request.set);
  is_frame = isfield(subject, 'bodies');
  if ~is_frame && ~(isempty(request.formulation) && isempty(request.with))
    error('stickslip:usage', 'ss_solve: a problem has its formulation already; the option is for frames');
  end

  if ischar(solver)
    request.solver = solver;
    result = stickslip_mex('solve', subject, request);
  else
    [result, trouble] = stickslip_mex('solve', subject, request, @(problem, report) guarded(solver, problem, report));
    if ~isempty(trouble)
      error(trouble);
    end
  end

  % A problem that was made from a frame: its answer can be judged, too.
  if ~is_frame && isfield(subject, 'frame') && isfield(result, 'x')
    answer = ss_recover(subject, result.x);
    names = fieldnames(answer);
    for i = 1:numel(names)
      result.(names{i}) = answer.(names{i});
    end
    result.formulation = subject.formulation;
    result.with = subject.with;
    [result.metrics, details, result.contacts] = ss_judge(subject.frame, result);
  end
end

% Errors must not cross the library; they come back as a struct that error() throws again.
function x = guarded(solver, problem, report)
  try
    if nargin(solver) == 1
      x = solver(problem);
    else
      x = solver(problem, report);
    end
  catch thrown
    x = struct('message', thrown.message, 'identifier', thrown.identifier, 'stack', thrown.stack);
  end
end
