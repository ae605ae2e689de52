% Functions of the user in the place of solver, collision detection and dynamics: RPIsim's function handles.
rpisim_setup
global rpisim_calls
ground = Body_plane([0; 0; 0], [0; 0; 1]);
cube = mesh_cube();
cube.u = [0; 0; 0.55];
cube.nu(1) = 0.3;
base = Simulator(0.01);
base.MAX_STEP = 40;
base.num_fricdirs = 4;
base = sim_addBody(base, [ground cube]);
reference = base;
reference.H_solver = @Lemke;
reference = sim_run(reference);
near(reference.bodies(2).u(3), 0.5, 1e-6, 'it has landed'); % the gap after a step solved to 1e-8

% A solver: z = f(A, b). The same pivoting method gives the same motion, and it really is asked.
rpisim_calls = 0;
sim = base;
sim.H_solver = @rpisim_own_solver;
sim = sim_run(sim);
assert(rpisim_calls > 20);
near(sim.bodies(2).u(3), 0.5, 1e-6, 'own solver');
near(sim.bodies(2).u(1), reference.bodies(2).u(1), 1e-3, 'own solver, sliding'); % where 4 directions leave a choice
assert(max(sim.solution_error) < 1e-8);

% A bad one is not corrected by anyone: without impulses the cube falls through the floor.
sim = base;
sim.H_solver = @(A, b) zeros(size(b));
sim = sim_run(sim);
n = 40;
near(sim.bodies(2).u(3), 0.55 - 9.81 * 1e-4 * n * (n + 1) / 2, 1e-12, 'a solver that does nothing'); % rounding

% Its order is [normal impulses; friction impulses contact by contact; sliding speeds], as in RPIsim's LCP.
sim = base;
sim.MAX_STEP = 40;
sim.userData = [];
sim.H_solver = @rpisim_keep_lcp;
sim = sim_run(sim);
A = rpisim_calls.A;
nc = numel(sim.contacts);
assert(nc == 4 && size(A, 1) == nc * 6);
near(A(5 * nc + 1:end, 1:nc), 0.5 * 0.5 * 0.5 * eye(nc), 1e-15, 'U');
near(A(5 * nc + 1:end, nc + 1:5 * nc), -kron(eye(nc), ones(1, 4)), 0, '-E''');
near(A(nc + 1:5 * nc, 5 * nc + 1:end), kron(eye(nc), ones(4, 1)), 0, 'E');
near(A(1:5 * nc, 1:5 * nc), A(1:5 * nc, 1:5 * nc)', 1e-12, 'symmetric'); % rounding

% Collision detection: sim = f(sim). A floor of its own, 0.2 higher; and one that filters what ours finds.
sim = base;
sim.bodies(2).u(3) = 0.75;
sim.H_collision_detection = @rpisim_own_floor;
sim = sim_run(sim);
near(sim.bodies(2).u(3), 0.7, 1e-6, 'own floor');
sim = base;
sim.H_collision_detection = @(s) setfield(collision_detection(s), 'contacts', []);
sim = sim_run(sim);
assert(sim.bodies(2).u(3) < 0);
sim = base;
sim.H_collision_detection = [];
sim = sim_run(sim);
assert(sim.bodies(2).u(3) < 0);
sim = base;
sim.H_collision_detection = @(s) collision_detection(s);
sim = sim_run(sim);
near(sim.bodies(2).u(3), 0.5, 1e-6, 'ours, called by the user');
found = collision_detection(reference);
assert(numel(found.contacts) == 4 && isequal(size(found.contacts(1).p1), [1 3]));
near([found.contacts.psi_n], 0, 1e-6, 'gaps outside of a run');

% Dynamics: sim = f(sim) with sim.newNU, from the matrices of preDynamics. The LCP in m-code is the LCP of the library.
sim = base;
sim.H_dynamics = @(s) LCPdynamics(s);
sim.H_solver = @Lemke;
sim = sim_run(sim);
near(sim.bodies(2).u(3), 0.5, 1e-6, 'dynamics in m-code');
near(sim.bodies(2).u(1), reference.bodies(2).u(1), 5e-3, 'dynamics in m-code, sliding'); % other directions of the polygon
assert(numel(sim.solution_error) > 20 && max(sim.solution_error) < 1e-6);
sim = base;
sim.H_dynamics = @(s) zeros(6 * s.num_activeBodies, 1); % as older versions of RPIsim return it: what touches stops
sim = sim_run(sim);
assert(sim.bodies(2).u(3) > 0.5 && sim.bodies(2).u(3) < 0.55 && norm(sim.bodies(2).nu) == 0);
sim = base;
sim.bodies(2).u(3) = 3;
sim.H_dynamics = @(s) error('stickslip:mine', 'asked'); % without contacts and joints it is not asked
sim.MAX_STEP = 10;
sim = sim_run(sim);
near(sim.bodies(2).u(3), 3 - 9.81 * 1e-4 * 55, 1e-12, 'free flight');
wrong = base;
wrong.H_dynamics = @(s) setfield(s, 'newNU', 1);
throws(@() sim_run(wrong), 'newNU has 1 numbers, expected 6');

% Joints in m-code: a pendulum by LCPdynamics moves as by the library.
rod = mesh_cylinder(7, 1, 0.1, 0.5);
rod.u = [0.25; 0; 0];
rod.quat = qt([0 1 0], pi / 2);
for k = 1:2
  sim = Simulator(0.005);
  sim.MAX_STEP = 40;
  sim = sim_addBody(sim, [body_setDynamic(mesh_cube(), false), rod]);
  sim = sim_addJoint(sim, 1, 2, [0; 0; 0], [0; 1; 0], 'revolute');
  if k == 2
    sim.H_dynamics = @(s) LCPdynamics(s);
  end
  sim = sim_run(sim);
  ends{k} = [sim.bodies(2).u; sim.bodies(2).nu];
end
near(ends{1}, ends{2}, 1e-7, 'a pendulum in m-code'); % 40 steps solved to 1e-8

% What they throw is passed on, and the step before it stands.
wrong = base;
wrong.H_solver = @(A, b) error('stickslip:mine', 'no such z');
throws(@() sim_run(wrong), 'no such z');
wrong.H_solver = @(A, b) 1;
throws(@() sim_run(wrong), 'z of the solver');
wrong.H_dynamics = @NCPdynamics;
throws(@() sim_run(wrong), 'solves LCPs');
wrong = base;
wrong.H_collision_detection = @(s) setfield(s, 'contacts', Contact(1, 7, [0 0 0], [0 0 1], 0));
throws(@() sim_run(wrong), 'body 7');
wrong.H_collision_detection = @(s) setfield(s, 'contacts', Contact(1, 2, [0 0 0], [0 0 2], 0));
throws(@() sim_run(wrong), 'length 2');
wrong = base;
wrong.userFunction = @(s) 3;
throws(@() sim_run(wrong), 'userFunction returned a double');
