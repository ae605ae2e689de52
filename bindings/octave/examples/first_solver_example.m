% Your first solver: projected Jacobi, beside the built-in ones, on a cube that slides down a slope.
%
%   octave --path bindings/octave/inst --path build/release/octave bindings/octave/examples/first_solver_example.m

% 1. A frame: one time step's problem. Usually from a file, frame = ss_read('stack.h5', 1).
g = 9.81;
frame.timestep = 0.01;
frame.bodies.masses = 1;
frame.bodies.positions = [0; 0; 0.5];
frame.bodies.quaternions = [1; 0; 0; 0];
frame.bodies.velocities = [0.1 0 0 0 0 0];
frame.bodies.forces = g * [sin(0.5) 0 -cos(0.5) 0 0 0];
frame.bodies.world_inertia_tensors = eye(3) / 6;
frame.contacts.pairs = [-1 -1 -1 -1; 1 1 1 1];
frame.contacts.points = 0.5 * [-1 1 1 -1; -1 -1 1 1; 0 0 0 0];
frame.contacts.normals = [0 0 0 0; 0 0 0 0; 1 1 1 1];
frame.contacts.gaps = [0 0 0 0];
frame.contacts.mu_k = 0.3 * ones(2, 4);
frame.dialect = 'canonical';

% 2. Yours and two others, judged by the same metrics.
mine = ss_solve(frame, @projected_jacobi, 'stop', 'energy<1e-12', 'history', true);
theirs = ss_solve(frame, 'jacobi', 'stop', 'energy<1e-12');
best = ss_solve(frame, 'nsgs', 'stop', 'energy<1e-12');
fprintf('%-20s %-10s %10s %14s %12s\n', 'solver', 'status', 'iterations', 'energy error', 'creep');
results = {'projected_jacobi', mine; 'jacobi', theirs; 'nsgs', best};
for i = 1:3
  r = results{i, 2};
  fprintf('%-20s %-10s %10d %12.2e J %8.1e m/s\n', results{i, 1}, r.status, r.iterations, r.metrics.energy, r.metrics.creep_max);
end

% 3. The curve of the errors: semilogy(mine.history.energy)
assert(mine.converged && theirs.converged && best.converged);
assert(numel(mine.history.energy) == mine.iterations && mine.iterations > best.iterations);
assert(norm(mine.velocities - best.velocities) < 1e-5); % an energy error of 1e-12 J of a 1 kg body is 1.4e-6 m/s
