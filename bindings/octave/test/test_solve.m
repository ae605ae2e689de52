% Solving: built-in solvers, options, m-functions under the same rules, results in files.
sliding = slope_frame(40, 0.3);
scratch = getenv('SS_SCRATCH');

% Every solver solves, or says why not; what it calls solved is solved.
list = ss_solvers();
formulations = {'cone', 'convex', 'stewart-trinkle', 'box'};
solved = 0;
for s = 1:numel(list)
  any_of = false;
  for f = 1:numel(formulations)
    r = ss_solve(sliding, list(s).name, 'formulation', formulations{f}, 'stop', 'relative_energy<1e-6', ...
                 'iterations', 3000, 'skip_exact', true, 'time_limit', 5);
    if strcmp(r.status, 'not applicable')
      assert(~isempty(r.notes));
    elseif r.converged
      assert(r.gauges.relative_energy < 1e-6);
      any_of = true;
    end
  end
  solved = solved + any_of;
end
assert(solved >= numel(list) - 1); % `enumerate` is for fewer unknowns

% The motion is known: gravity minus friction.
r = ss_solve(sliding, 'nsgs', 'stop', 'natural_map<1e-12', 'history', true, 'reference', 'auto');
v = 9.81 * 0.01 * (sin(2 * pi / 9) - 0.3 * cos(2 * pi / 9));
assert(abs(r.velocities(1) - v) < 1e-9);
assert(all(strcmp(r.contacts.status(r.normal > 1e-6), 'slip')) && r.metrics.distance < 1e-18);
assert(numel(r.history.natural_map) == r.iterations && numel(r.history.seconds) == r.iterations);
warm = ss_solve(sliding, 'nsgs', 'stop', 'natural_map<1e-10', 'guess', r);
assert(warm.iterations <= 1);
by_metric = ss_solve(sliding, 'nsgs', 'stop', 'creep<1');
assert(ischar(by_metric.status));

% Wrong requests.
throws(@() ss_solve(sliding, 'ngs'), 'unknown solver ''ngs''; did you mean');
throws(@() ss_solve(sliding, 'nsgs', 'colour', 'red'), 'unknown option ''colour''');
throws(@() ss_solve(sliding, 'nsgs', 'stop', 'energy'), 'stop');
throws(@() ss_solve(sliding, 'pgs', 'set', struct('omega', 3)), 'omega');
throws(@() ss_solve(sliding, 'nsgs', 'iterations', 1.5), 'iterations: 1.5');
start = ss_solve(sliding, 'nsgs', 'iterations', 0);
assert(start.iterations == 0 && ~any(start.x));
throws(@() ss_solve(sliding, 'nsgs', 'guess', struct('velocities', 1)), 'answer.velocities: 1 numbers, expected 6');
throws(@() ss_solve(ss_problem(sliding), 'nsgs', 'formulation', 'box'), 'has its formulation already');

% An m-function: stop rule, limits, history, best iterate, start.
mine = ss_solve(sliding, @projected_jacobi, 'stop', 'natural_map<1e-8', 'history', true);
assert(mine.converged && mine.gauges.natural_map < 1e-8 && numel(mine.history.energy) == mine.iterations);
short = ss_solve(sliding, @projected_jacobi, 'iterations', 5);
assert(strcmp(short.status, 'max iterations') && short.iterations == 5);
late = ss_solve(sliding, @projected_jacobi, 'stop', 'none', 'iterations', 1e9, 'time_limit', 0.2);
assert(strcmp(late.status, 'time limit'));
start = ss_solve(sliding, @(problem, report) problem.x0, 'guess', r);
assert(start.converged && norm(start.velocities - r.velocities) < 1e-12);
lcp = ss_solve(sliding, @(problem) lemke(problem.A, problem.b), 'formulation', 'stewart-trinkle');
assert(lcp.converged && lcp.gauges.relative_energy < 1e-12);

% A claim that is not true, an x that is none, an error: the caller hears of it, Octave goes on.
claim = ss_solve(sliding, @(problem) zeros(size(problem.b)));
assert(strcmp(claim.status, 'stalled'));
nan = ss_solve(sliding, @(problem) NaN(size(problem.b)));
assert(strcmp(nan.status, 'failed') && all(isfinite(nan.velocities)));
throws(@() ss_solve(sliding, @(problem) 1), 'x of the solver: 1 numbers, expected 12');
throws(@() ss_solve(sliding, @(problem) 'text'), 'x of the solver');
caught = false;
try
  ss_solve(sliding, @(problem) error('my:identifier', 'solver fell over'));
catch thrown
  caught = strcmp(thrown.identifier, 'my:identifier') && strcmp(thrown.message, 'solver fell over');
end
assert(caught);
throws(@() stickslip_mex('iterate', 1), 'after the run');

% One solver inside another: each report belongs to its own run.
inner = @(problem, report) getfield(ss_solve(rmfield(problem, 'x0'), @projected_jacobi, 'stop', 'natural_map<1e-10'), 'x');
nested = ss_solve(sliding, inner, 'stop', 'natural_map<1e-8');
assert(nested.converged);

% Results go to files with their frames; the program can judge them.
file = fullfile(scratch, 'results.h5');
sliding.solver_data.mine = mine;
sliding.solver_data.nsgs = r;
ss_write(file, sliding);
read = ss_read(file, 1);
assert(isequal(read.solver_data.mine.velocities, mine.velocities));
assert(isequal(read.solver_data.nsgs.metrics.energy, r.metrics.energy));
assert(strcmp(read.solver_data.mine.formulation, 'cone'));
plain = load(file);
stored = plain.simulation_000001.mbs_frame000001.solver_data.nsgs;
assert(isequal(rmfield(read.solver_data.nsgs, {'formulation', 'with'}), stored));
[code, json] = system(sprintf('%s judge %s --json', getenv('SS_PROGRAM'), file));
assert(code == 0 && ~isempty(strfind(json, 'mine')));

% Lists.
assert(numel(ss_formulations()) >= 7 && strcmp(getfield(ss_metrics('energy'), 'unit'), 'J'));
assert(numel(getfield(ss_solvers('pgs'), 'options')) > 0);
throws(@() ss_solvers('nosuch'), 'nosuch');
