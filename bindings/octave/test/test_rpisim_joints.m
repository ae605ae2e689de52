% Joints of every type: what they hold, what they leave free, their errors, and their correction.
rpisim_setup
types = {'fixed', 'revolute', 'prismatic', 'cylindrical', 'spherical'};
held = [6 5 5 4 3];

% The rate of the error is the derivative of the error, for every type, wherever the bodies are; the rate of change is
% taken from a small motion, hence the tolerance of its square.
base = Simulator();
first = mesh_cube();
second = mesh_rectangularBlock(0.3, 0.4, 0.5);
second.u = [1; 0.2; 0.1];
second.quat = qt([1 2 3], 0.4);
base = sim_addBody(base, [first second]);
for k = 1:5
  sim = sim_addJoint(base, 1, 2, [0.5; 0.1; 0], [1; 2; -1], types{k});
  assert(sim.joints(1).numConstraints == held(k) && sim.num_jointConstraints == held(k));
  [C, Cdot] = joint_constraintError(sim, 1);
  near(C, zeros(held(k), 1), 1e-14, 'no error at the start');
  sim.bodies(1).nu = [0.3; -0.2; 0.5; 0.7; -0.4; 0.2];
  sim.bodies(2).nu = [-0.1; 0.4; 0.2; -0.3; 0.6; 0.5];
  [C, Cdot] = joint_constraintError(sim, 1);
  t = 1e-5;
  for b = 1:2
    w = sim.bodies(b).nu(4:6);
    sim.bodies(b).u = sim.bodies(b).u + t * sim.bodies(b).nu(1:3);
    sim.bodies(b).quat = qtmultiply(qt(w, t * norm(w)), sim.bodies(b).quat);
  end
  near(joint_constraintError(sim, 1) / t, Cdot, 2e-5, ['rate of the error: ' types{k}]);
end

% A body hung on a static one by each type, under gravity and with a push: it keeps what the joint holds. Without correction
% errors drift with the first order of h; with it they stay below 1e-5 (Bender and Schmitt, as in the paper's Figure 4).
for k = 1:5
  for correct = [false true]
    sim = Simulator(0.005);
    sim.MAX_STEP = 200;
    sim.jointCorrection = correct;
    body = mesh_rectangularBlock(0.3, 0.4, 0.5);
    body.u = [0.5; 0; 0];
    body.nu(4:6) = [0.3; 1; 0.5] * (k ~= 1) .* ([k == 5; true; k == 5] | false);
    sim = sim_addBody(sim, [body_setDynamic(mesh_cube(), false), body]);
    sim = sim_addJoint(sim, 1, 2, [0.1; 0; 0], [0; 1; 0] + [0.5; 0; 1] * (k == 3 || k == 4), types{k});
    sim = sim_run(sim);
    e = sim.history.joint_error;
    assert(isequal(size(e), [1 200]) && isequal(size(sim.history.joint_speed_error), [1 200]));
    near(max(abs(joint_constraintError(sim, 1))), e(end), 1e-3 + 0.2 * e(end), 'the two measures of the error'); % other norms
    if correct
      assert(max(e) <= 1.001e-5);
    end
    if k == 1
      near(sim.bodies(2).u, body.u, 1e-2, 'fixed'); % what 1 s of drift may do
    elseif k == 3 && correct
      slide = sim.bodies(2).u - body.u;
      along = [0.5; 1; 1] / 1.5;
      near(slide - along * (along' * slide), [0; 0; 0], 2e-5, 'prismatic: along its axis');
      near(sim.joints(1).theta, along' * slide, 2e-5, 'prismatic: theta is its slide');
      near(along' * slide, -9.81 * along(3) / 2 * 1.005, 1e-3, 'prismatic: accelerated by its share of gravity');
    end
  end
end

% A revolute joint turns by theta, with its sign.
for direction = [-1 1]
  sim = Simulator(0.001);
  sim.gravity = false;
  sim.jointCorrection = true;
  sim.MAX_STEP = 500;
  wheel = mesh_cylinder(20, 1, 0.4, 0.2);
  wheel.nu(6) = 2 * direction;
  sim = sim_addBody(sim, [body_setDynamic(mesh_cube(), false), wheel]);
  sim = sim_addJoint(sim, 1, 2, [0; 0; 0], [0; 0; 1], 'revolute');
  sim = sim_run(sim);
  near(sim.joints(1).theta, direction, 1e-6, 'theta');
end

% The hanging rod of Figure 4: with correction it swings with the period of a physical pendulum.
sim = Simulator(0.005);
sim.jointCorrection = true;
sim.MAX_STEP = 400;
sim.userData = struct('z', [], 'x', []);
sim.userFunction = @(s) plotPVA(rpisim_watch(s));
rod = mesh_rectangularBlock(0.05, 0.05, 0.5);
angle = 0.2;
rod.u = [-0.25 * sin(angle); 0; 0.25 - 0.25 * cos(angle)];
rod.quat = qt([0; 1; 0], angle);
sim = sim_addBody(sim, [body_setDynamic(mesh_cube(), false), rod]);
sim = sim_addJoint(sim, 1, 2, [0; 0; 0.25], [0; 1; 0], 'spherical');
sim = sim_run(sim);
assert(size(sim.userData.pva, 1) == 400);
x = sim.userData.x;
k = find(x(1:end - 1) < 0 & x(2:end) >= 0);
crossings = k + x(k) ./ (x(k) - x(k + 1));
period = mean(diff(crossings)) * sim.h;
expected = 2 * pi * sqrt((rod.J(2, 2) + 0.25 ^ 2) / (9.81 * 0.25)) * (1 + angle ^ 2 / 16); % mass 1
near(period, expected, 0.005 * expected, 'period'); % the next term of the amplitude is 1e-5; first order in h
plotJointError(sim); % draws nothing here, and does not fail
again = plotJointError(sim);
assert(isstruct(again));

% The PD controller of the powerball example: torques on both bodies of each joint follow a moving target.
sim = Simulator(0.01);
sim.gravity = false;
sim.MAX_STEP = 150;
links = [body_setDynamic(mesh_cube(), false), mesh_cube(), mesh_cube()];
links(2).u = [0; 0; 1.5];
links(3).u = [0; 0; 3];
links(2).J = eye(3);
links(3).J = eye(3);
sim = sim_addBody(sim, links);
sim = sim_addJoint(sim, 1, 2, [0; 0; 0.75], [0; 0; 1], 'revolute');
sim = sim_addJoint(sim, 2, 3, [0; 0; 2.25], [0; 0; 1], 'revolute');
sim.userFunction = @rpisim_controller;
sim = sim_run(sim);
near([sim.joints.theta], sin(1.5), 0.15, 'the controller follows'); % the lag of its derivative gain: D/P times the speed of 1 rad/s
throws(@() sim_addJoint(Simulator(), 1, 2, [0 0 0], [0 0 1], 'fixed'), 'there are 0');
static = sim_addBody(Simulator(), [links(1) links(1)]);
throws(@() sim_addJoint(static, 1, 2, [0 0 0], [0 0 1], 'fixed'), 'at least one dynamic');
