% Solvers of plug-ins run in a process of their own: one that works, and others that crash, hang or lie.
source = getenv('SS_SOURCE_DIR');
scratch = getenv('SS_SCRATCH');
frame = slope_frame(10, 0.5);
shared = fullfile(scratch, 'richardson.so');
compile = @(file, target) system(sprintf('cc -std=c17 -shared -fPIC -I%s/include %s -o %s -lm', source, file, target));
assert(compile(fullfile(source, 'examples', 'plugin', 'my_solver.c'), shared) == 0);

% One that works.
theirs = ss_solve(frame, 'richardson', 'plugin', shared, 'set', struct('damping', 1.5), 'iterations', 1e5, ...
                  'stop', 'energy<1e-14', 'history', true);
assert(theirs.converged && theirs.iterations > 1);
assert(numel(theirs.history.energy) == theirs.iterations && theirs.history.energy(end) < 1e-14);
exact = ss_solve(frame, 'nsgs', 'stop', 'energy<1e-14');
assert(norm(theirs.velocities - exact.velocities) < 1e-6); % energy errors of 1e-14 J of 1 kg: 1.4e-7 m/s each

% Errors are results, with the reason.
r = ss_solve(frame, 'nosuch', 'plugin', shared);
assert(strcmp(r.status, 'failed') && ~isempty(strfind(r.notes, 'no solver ''nosuch''')));
r = ss_solve(frame, 'richardson', 'plugin', '/nonexistent.so');
assert(strcmp(r.status, 'failed') && ~isempty(strfind(r.notes, 'nonexistent')));
throws(@() ss_solve(frame, 'richardson', 'plugin', shared, 'stop', 'nonsense<1'), 'stop, of a plug-in');

% Octave survives.
shared = fullfile(scratch, 'bad.so');
assert(compile(fullfile(source, 'bindings', 'octave', 'test', 'bad_solvers.c'), shared) == 0);
r = ss_solve(frame, 'crash', 'plugin', shared);
assert(strcmp(r.status, 'failed') && ~isempty(strfind(r.notes, 'crashed')));
start = tic;
r = ss_solve(frame, 'hang', 'plugin', shared, 'time_limit', 0.1);
assert(strcmp(r.status, 'time limit') && toc(start) < 20);
r = ss_solve(frame, 'leave', 'plugin', shared);
assert(strcmp(r.status, 'failed') && ~isempty(strfind(r.notes, 'without an answer')));
r = ss_solve(frame, 'lie', 'plugin', shared);
assert(strcmp(r.status, 'stalled') && ~r.converged);
r = ss_solve(frame, 'infect', 'plugin', shared);
assert(strcmp(r.status, 'failed') && all(isfinite(r.velocities)));
