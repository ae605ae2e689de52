% A run in RPIsim's form: user functions, forces, friction, and what RPIsim gets wrong.
rpisim_setup
ground = Body_plane([0; 0; 0], [0; 0; 1]);

% The user function is called at the start of every step, with the state of the step before.
sim = Simulator(0.01);
sim.MAX_STEP = 25;
ball = Body_sphere(2, 0.5);
ball.u = [0; 0; 100];
sim = sim_addBody(sim, [ground ball]);
sim.userData.z = [];
sim.userFunction = @rpisim_watch;
sim = sim_run(sim);
n = 0:24;
near(sim.userData.z, 100 - 9.81 * 1e-4 * n .* (n + 1) / 2, 1e-12, 'semi-implicit free fall, as seen at each start'); % rounding
assert(isequal(sim.userData.steps, 1:25));
near(sim.bodies(2).Fext, zeros(6, 1), 0, 'gravity is not in Fext');

% Forces of a user function act; a torque in free flight is divided by the inertia.
sim = Simulator(0.01);
sim.gravity = false;
sim.MAX_STEP = 1;
block = mesh_rectangularBlock(1, 2, 3);
sim = sim_addBody(sim, block);
sim.bodies(1).Fext(6) = 1;
sim = sim_run(sim);
near(sim.bodies(1).nu(6), 0.01 / (5 / 12), 1e-14, 'torque'); % rounding
sim.userFunction = @(s) setfield(s, 'bodies', setfield(s.bodies, 'Fext', [1; 0; 0; 0; 0; 0]));
sim = sim_run(sim);
near(sim.bodies(1).nu(1), 0.01, 1e-14, 'force of a user function');
assert(sim.step == 2);

% Without torque the angular momentum of a tumbling block stays.
sim = Simulator(0.001);
sim.gravity = false;
sim.MAX_STEP = 2000;
block.nu(4:6) = [1; 2; 3];
sim = sim_addBody(sim, block);
sim = sim_run(sim);
R = qt2rot(sim.bodies(1).quat);
spin = R * block.J * R' * sim.bodies(1).nu(4:6);
near(spin, block.J * [1; 2; 3], 0.01, 'angular momentum'); % of 2.3; first order in h: 0.0024 here

% Two cubes pressed together, one sliding at 1 m/s: they end with a common 0.5, and the momentum stays at every step.
sim = Simulator(0.01);
sim.gravity = false;
sim.MAX_STEP = 60;
a = mesh_cube();
b = mesh_cube();
b.u = [0; 0; 1];
b.nu(1) = 1;
a.mu = 1;
b.mu = 1;
a.Fext(3) = 20;
b.Fext(3) = -20;
sim = sim_addBody(sim, [a b]);
sim = sim_run(sim);
near(sim.bodies(1).nu(1) + sim.bodies(2).nu(1), 1, 1e-9, 'momentum'); % what 60 solves to 1e-8 may lose

% Sliding is braked by 0.5 mu1 mu2, or by the geometric mean, or not at all. 8 directions, one of them along the motion.
expected = [0.5 * 0.8 * 0.5, sqrt(0.8 * 0.5), 0];
for k = 1:3
  sim = Simulator(0.001);
  sim.MAX_STEP = 100;
  sim.num_fricdirs = 8;
  sim.H_dynamics = @NCPdynamics;
  sim.options = {'stop=relative_energy<1e-10', 'finisher=none', 'solver=nsgs', 'iterations=1000'};
  cube = scale_mesh(mesh_cube(), 0.2);
  cube.u = [0; 0; 0.1];
  cube.mu = 0.8;
  cube.nu(1) = 2;
  sim = sim_addBody(sim, [ground cube]);
  if k == 2
    sim.friction_rule = 'geometric';
  elseif k == 3
    sim.FRICTION = false;
  end
  sim = sim_run(sim);
  near(sim.bodies(2).nu(1), 2 - expected(k) * 9.81 * 0.1, 1e-4, 'braking'); % impacts of the start: 1e-5
end

% A static body that a user function moves takes others along.
sim = Simulator(0.01);
sim.MAX_STEP = 50;
lift = body_setDynamic(mesh_cube(), false);
cube = scale_mesh(mesh_cube(), 0.5);
cube.u = [0; 0; 0.75];
sim = sim_addBody(sim, [lift cube]);
sim.userFunction = @(s) setfield(s, 'bodies', [setfield(s.bodies(1), 'u', [0; 0; 0.001 * s.step]), s.bodies(2)]);
sim = sim_run(sim);
near(sim.bodies(1).verts_world(8, 3), 0.55, 1e-12, 'its vertices moved with it');
near(sim.bodies(2).u(3), 0.75 + 0.05, 2e-3, 'lifted'); % one step of 1 mm behind, and the slack of contacts

% Bodies that must not collide do not; invisible or ghostly ones neither.
sim = Simulator(0.01);
sim.MAX_STEP = 100;
cube.u = [0; 0; 1];
cube.doesNotCollideWith = 1;
other = cube;
other.u = [2; 0; 1];
other.collides = false;
other.doesNotCollideWith = [];
sim = sim_addBody(sim, [ground cube other]);
sim = sim_run(sim);
assert(sim.bodies(2).u(3) < -3 && sim.bodies(3).u(3) < -3);

% What is not possible is said.
empty = Simulator();
throws(@() sim_run(empty), 'there are no bodies');
wrong = sim;
wrong.H_solver = @no_such_solver;
throws(@() sim_run(wrong), 'no_such_solver');
wrong = sim;
wrong.H_collision_detection = @no_such_detection;
throws(@() sim_run(wrong), 'no_such_detection');
wrong = sim;
wrong.H_dynamics = @no_such_dynamics;
throws(@() sim_run(wrong), 'no_such_dynamics');
throws(@() sim_addJoint(sim, 1, 2, [0 0 0], [0 0 1], 'rubber'), 'unknown type');
throws(@() sim_addJoint(sim, 2, 9, [0 0 0], [0 0 1], 'fixed'), 'there are 3');
wrong = sim;
wrong.userFunction = @(s) error('stickslip:mine', 'a user function of mine');
throws(@() sim_run(wrong), 'of mine');

% Polyhedral exact geometry, where the library has it: a peg that fits goes through, and one that does not stays.
known = stickslip_mex('world_options');
cubes = [mesh_cube(), mesh_cube(), mesh_cube(), mesh_cube()];
places = [1 -1 0 0; 0 0 1 -1; 0 0 0 0];
for k = 1:4
  cubes(k).u = places(:, k);
  cubes(k).dynamic = false;
end
for s = [0.99999, 1.00001]
  peg = scale_mesh(mesh_cube(), s);
  peg.u = [0; 0; 1.5];
  sim = Simulator(0.01);
  sim.MAX_STEP = 150;
  sim.H_dynamics = @PEG3d;
  sim = sim_addBody(sim, [cubes peg]);
  if any(strcmp('peg', {known.name}))
    sim = sim_run(sim);
    assert((sim.bodies(5).u(3) < -1) == (s < 1));
  else
    throws(@() sim_run(sim), 'no polyhedral exact geometry');
  end
end
