% Worlds and simulation by the toolbox's own names.

% A box falls on a plane and rests; every step can be judged, and is a frame like any other.
w = ss_world();
ss_body(w, 'plane', []);
b = ss_body(w, 'box', [1 1 1], 'density', 500, 'position', [0 0 2]);
[report, history] = ss_step(w, 150);
assert(report.steps == 150 && abs(report.time - 1.5) < 1e-12 && isequal(size(history.poses), [14 150]));
state = ss_state(w);
near(state.positions(:, b), [0; 0; 0.5], 1e-3, 'at rest'); % overlaps of a thousandth of the box may stand
near(state.masses(b), 500, 1e-12, 'mass by density');
near(history.poses(8:10, end), state.positions(:, b), 0, 'history');
contacts = ss_contacts(w);
near(sum(contacts.normal_impulse), 500 * 9.81 * 0.01, 0.05, 'weight'); % solved to 1e-4
metrics = ss_judge_step(w);
assert(metrics.energy < 1e-3 && metrics.energy >= 0);
[frame, answer] = ss_last(w);
result = ss_solve(frame, 'nsgs', 'formulation', 'cone');
near(result.velocities, answer.velocities, 1e-2, 'solved again');

% State can be set between steps; what is wrong is refused and changes nothing.
state.velocities(1, b) = 3;
ss_state(w, 'velocities', state.velocities, 'positions', state.positions);
now_state = ss_state(w);
near(now_state.velocities(1, b), 3, 0, 'set');
throws(@() ss_state(w, 'velocities', [1 2 3]), 'velocities: 3 numbers, expected 12');
throws(@() ss_state(w, 'velocities', NaN(6, 2)), 'not a finite number');
throws(@() ss_state(w, 'masses', [1 1]), 'cannot set');
throws(@() ss_body(w, 'box', [1 1 1]), 'before the first step');
throws(@() ss_replace(w, 'solver', @(A, b) b), 'before the first step');

% A compound, a material, a hull from points, a motor.
w = ss_world();
ice = ss_material(w, 'mu', 0);
wood = ss_material(w, 'mu', 0.2, 'mu_across', 0.5, 'grain', [1 0 0]);
ss_material(w, [ice wood], 'mu', 0.1, 'mu_across', 0.3);
throws(@() ss_material(w, [ice ice], 'mu', 0.1, 'mu_across', 0.3), 'neither material has a grain');
ss_body(w, 'plane', [], 'material', ice);
b = ss_body(w, '', [], 'position', [0 0 1]);
ss_shape(w, b, 'sphere', 0.1, 'density', 1000, 'position', [0.3 0 0]);
ss_shape(w, b, 'sphere', 0.1, 'density', 1000, 'position', [-0.3 0 0]);
points = [1 1 -1 -1 0; 1 -1 1 -1 0; 0 0 0 0 1];
hull = ss_body(w, 'hull', {points}, 'position', [5 0 0.01]);
arm = ss_body(w, 'box', [1 0.1 0.1], 'mass', 2, 'position', [-4.5 0 1]);
j = ss_joint(w, 'revolute', 0, arm, [-5 0 1], [0 0 1], 'motor', 'velocity', 'target_speed', 1);
s = ss_state(w);
ss_start(w, 'dt', 0.005);
ss_step(w, 100);
joints = ss_joints(w);
near(joints.rates(1), 1, 1e-3, 'a motor turns at its speed'); % stop rule
ss_joint(w, j, 'target_speed', -2);
ss_step(w, 10);
joints = ss_joints(w);
near(joints.rates(1), -2, 1e-3, 'and at another one');
s = ss_state(w);
near(s.masses([b hull]), [2 * 1000 * 4 / 3 * pi * 1e-3, 1000 * 4 / 3], 1e-6, 'masses'); % a pyramid: base 2 x 2, height 1

% User functions: called at their stages; contacts can be dropped; what is thrown undoes the step.
w = ss_world();
ss_body(w, 'plane', []);
b = ss_body(w, 'sphere', 0.5, 'position', [0 0 0.6]);
ss_on(w, 'after-contacts', @(c) false(1, numel(c.gaps)));
ss_step(w, 100);
s = ss_state(w);
assert(s.positions(3, b) < -3);
ss_on(w, 'after-step', @() error('stickslip:mine', 'enough'));
throws(@() ss_step(w), 'enough');
again = ss_state(w);
near(again.positions, s.positions, 0, 'a failed step is undone');
ss_on(w, 'after-step', []);
ss_on(w, 'before-solve', @(frame) assert(isfield(frame, 'bodies')));
ss_step(w);
throws(@() ss_on(w, 'sometimes', @() 1), 'unknown stage');
throws(@() ss_on(w, 'after-step', 5), 'expected a function handle');

% Which contacts are kept may be said by a sparse vector, as many functions make them.
kept = cell(1, 2);
makers = {@full, @sparse};
for k = 1:2
    w = ss_world();
    ss_body(w, 'plane', []);
    ss_body(w, 'box', [1 1 1], 'position', [0 0 0.5]);
    ss_on(w, 'after-contacts', @(c) makers{k}([false(1, numel(c.gaps) - 1), true]));
    ss_step(w);
    kept{k} = ss_contacts(w).points;
end
assert(size(kept{1}, 2) == 1 && isequal(kept{1}, kept{2}));

% Scenes by name, their parameters and figures; a recording.
scene = ss_scenes('sliding-block');
assert(any(strcmp('slope', {scene.parameters.name})));
w = ss_world('sliding-block', 'slope', 20);
file = fullfile(getenv('SS_SCRATCH'), 'block.h5');
ss_record(w, file, 10);
ss_step(w, 100);
ss_record(w);
figures = ss_figures(w);
assert(figures.slid > 0.4 && abs(figures.error) < 1e-4);
info = ss_info(file);
throws(@() ss_world('no-such-scene'), 'unknown scene');
piles = {ss_state(ss_world('rock-pile', 'seed', 1)), ss_state(ss_world('rock-pile')), ss_state(ss_world('rock-pile', 'seed', 2))};
assert(isequal(piles{1}, piles{2}) && ~isequal(piles{1}, piles{3}));
throws(@() ss_world('sliding-block', 'slope', 200), 'slope');
frames = ss_read(file);
% a flight recorder: the last steps before something trips
w = ss_world('sliding-block', 'slope', 20);
file = fullfile(getenv('SS_SCRATCH'), 'flight.h5');
throws(@() ss_record(w, file, 1, 'ring=5 trip=sped>1'), 'did you mean speed');
ss_record(w, file, 1, 'ring=5 trip=speed>0.2 trips=1');
ss_step(w, 100);
ss_record(w);
flight = ss_read(file);
assert(sum(strncmp(fieldnames(flight.simulation_000001), 'mbs_frame', 9)) == 5);
assert(sum(strncmp(fieldnames(frames.simulation_000001), 'mbs_frame', 9)) == 10);

% Handles end with their last copy, or at once.
copy = w;
clear w
ss_step(copy);
ss_free(copy);
throws(@() ss_step(copy), 'not the handle of a world');
