% From a frame to a problem and back; problems on their own; cone problems and their files.
frame = slope_frame(10, 0.5);
scratch = getenv('SS_SCRATCH');

% Every formulation, on a cube that rests: the friction that holds it is known.
held = 1 * 9.81 * 0.01 * [sin(pi / 18), cos(pi / 18)]; % N s, along and across the slope
names = {'cone', 'convex', 'stewart-trinkle', 'anitescu-potra', 'box'};
for i = 1:numel(names)
  problem = ss_problem(frame, names{i});
  n = numel(problem.b);
  assert(isequal(size(problem.A), [n n]) && issparse(problem.A));
  assert(isequal(full(diag(problem.A)), problem.diagonal));
  assert(sum(problem.blocks.size) == n && problem.blocks.first(1) == 1);
  result = ss_solve(frame, 'auto', 'formulation', names{i}, 'stop', 'relative_energy<1e-12');
  assert(result.converged);
  assert(abs(sum(result.normal) - held(2)) < 1e-9 && abs(sum(result.tangent(1, :)) + held(1)) < 1e-9);
  assert(norm(result.velocities) < 1e-9);

  % recover and judge say what solve said, and so does the problem on its own.
  answer = ss_recover(problem, result.x);
  assert(isequal(answer.velocities, result.velocities) && isequal(answer.tangent, result.tangent));
  metrics = ss_judge(frame, answer, 'formulation', names{i});
  assert(isequaln(metrics, result.metrics));
  assert(isequaln(ss_judge(frame, result), result.metrics));
  gauges = ss_measure(problem, result.x);
  assert(abs(gauges.energy - result.gauges.energy) <= 1e-20); % J; products in another order
  again = ss_solve(problem, 'auto', 'stop', 'relative_energy<1e-12');
  assert(again.converged && norm(again.velocities - result.velocities) < 1e-9);
end

% Options as a struct, cells or a text.
a = ss_problem(frame, 'stewart-trinkle', struct('directions', 6, 'polygon', 'circumscribed'));
b = ss_problem(frame, 'stewart-trinkle', {'directions', 6, 'polygon', 'circumscribed'});
c = ss_problem(frame, 'stewart-trinkle', 'directions=6 polygon=circumscribed');
assert(isequal(a.A, b.A) && isequal(a.A, c.A) && numel(a.b) == 4 * 8);
throws(@() ss_problem(frame, 'stewart'), 'unknown formulation ''stewart''');
throws(@() ss_problem(frame, 'cone', 'nonsense=1'), 'nonsense');
throws(@() ss_problem(frame, 'stewart-trinkle', struct('directions', 2)), 'directions');

% An LCP, also by the name of the paper. Its solution is judged like any other.
[A, b, problem] = h5_build_stap_reduced(frame, 8);
assert(isequal(size(A), [40 40]) && numel(b) == 40);
[z, pivots, ended] = lemke(A, b);
assert(strcmp(ended, 'solved') && pivots > 0);
[metrics, answer] = coulomb_metrics(frame, z, 8);
assert(metrics.resting > 0 && metrics.energy < 1e-20 && metrics.penetration < 1e-15); % J, m: exact up to rounding
assert(abs(sum(answer.normal) - held(2)) < 1e-12);
assert(isequaln(coulomb_metrics(frame, setfield(setfield(answer, 'formulation', 'stewart-trinkle'), 'with', '')), metrics));
throws(@() coulomb_metrics(frame, z, 4), '40 unknowns, expected 24');
throws(@() ss_lcp(ss_problem(frame)), 'law ''cone'' is not an LCP');

% Bounds on both sides, from above only, and an equation: each has to be what it was.
mixed = struct('A', [4 1 0 1; 1 3 1 0; 0 1 5 1; 1 0 1 4], 'b', [-8; 2; 3; -1], 'lower', [0; -Inf; -1; -Inf], ...
               'upper', [1; 0.2; 1; Inf]);
[A, b, recover] = ss_lcp(mixed);
x = recover(lemke(A, b));
gauges = ss_measure(mixed, x);
assert(gauges.natural_residual < 1e-14);
assert(x(1) == 1); % pushed against its upper bound
[A, b, recover] = ss_lcp(struct('A', 2, 'b', -10, 'lower', -1, 'upper', 1));
assert(recover(lemke(A, b)) == 1); % w = -8 there
other = ss_solve(mixed, 'path', 'stop', 'natural_residual<1e-12');
assert(other.converged && norm(other.x - x) < 1e-10);

% Problems that are none.
throws(@() ss_measure(struct('A', eye(2), 'b', 1), [0; 0]), 'b: 1 numbers, expected 2');
throws(@() ss_measure(struct('A', ones(2, 3), 'b', [1; 1]), [0; 0]), 'must be square');
throws(@() ss_measure(struct('A', [1 NaN; 0 1], 'b', [1; 1]), [0; 0]), '^.*A: ');
throws(@() ss_measure(struct('A', eye(2), 'b', [1; Inf]), [0; 0]), 'b\(2\)');
throws(@() ss_measure(struct('A', eye(2), 'b', [1; 1], 'partner', [1; 0]), [0; 0]), 'partner\(1\)');
broken = problem;
broken.blocks.size(1) = 3;
throws(@() ss_solve(rmfield(broken, 'frame')), 'blocks');
broken = problem;
broken.blocks.law{1} = 'jungle';
throws(@() ss_solve(rmfield(broken, 'frame')), 'unknown law ''jungle''');

% The projection.
cone = ss_problem(frame, 'cone');
x = ss_project(cone, ones(12, 1));
assert(all(x(1:3:end) > 0) && abs(norm(x(2:3)) - 0.5 * x(1)) < 1e-15);

% Frame to cone problem to file and back.
file = fullfile(scratch, 'cone.hdf5');
local = ss_convert(frame, file, 'to', 'fclib-local');
read = ss_read(file);
assert(isequal(read.W, local.W) && isequal(read.q, local.q) && isequal(read.mu, local.mu));
r1 = ss_solve(local, 'nsgs', 'stop', 'natural_map<1e-12');
r2 = ss_solve(load(file), 'nsgs', 'stop', 'natural_map<1e-12'); % as load shows it
assert(r1.converged && isequal(r1.x, r2.x));
read.solution = struct('r', r1.x);
ss_write(file, read);
back = ss_read(file);
assert(isequal(back.solution.r, r1.x) && norm(back.solution.u - (local.W * r1.x + local.q)) < 1e-15);
assert(isequal(ss_info(file), struct('file', file, 'format', 'fclib', 'kinds', {{'local'}})));
global_form = ss_convert(frame, [], 'to', 'fclib-global');
assert(isequal(size(global_form.H), [6 12]));
same = ss_convert(global_form, [], 'to', 'bpmd', 'h', 0.01);
r3 = ss_solve(same, 'nsgs', 'stop', 'natural_map<1e-12');
assert(norm(r3.velocities) < 1e-9);
throws(@() ss_convert(global_form, [], 'to', 'bpmd'), 'option h');
throws(@() ss_convert(local, [], 'to', 'fclib-global'), 'no bodies');
throws(@() ss_convert(frame, [], 'to', 'xml'), 'unknown format');
ss_convert(frame, fullfile(scratch, 'm'), 'to', 'mtx');
assert(exist(fullfile(scratch, 'm_W.mtx'), 'file') == 2);

% A frame that cannot be solved is explained.
wedged = frame;
wedged.contacts.mu_k(:) = Inf;
complaints = ss_diagnose(wedged);
assert(any(strcmp({complaints.defect}, 'glue')));
