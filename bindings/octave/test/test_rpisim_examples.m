% Scripts of RPIsim's release in short: the same bodies and settings, and what must come out.
rpisim_setup

% sphereDrop: a ball falls 9 m, and rests on its radius.
sim = Simulator(0.01);
sim.MAX_STEP = 300;
sim.H_dynamics = @LCPdynamics;
sim.H_solver = @Lemke;
sim.userFunction = @plotEnergy;
ball = Body_sphere(1, 1);
ball.u = [0; 0; 10];
sim = sim_addBody(sim, [Body_plane([0; 0; 0], [0; 0; 1]), ball]);
sim = sim_run(sim);
near(sim.bodies(2).u, [0; 0; 1], 1e-6, 'sphereDrop'); % stop rule
near(sim.userData.energy(1, :), [0, 98.1, 98.1], 1e-12, 'plotEnergy');
assert(abs(sim.userData.energy(end, 1)) < 1e-9);

% sphere_on_sphere: a small ball rolls off a large one, and both stay above the plane.
sim = Simulator(0.01);
sim.MAX_STEP = 500;
sim.H_solver = @Lemke;
large = Body_sphere(20, 2);
large.u = [0; 0; -1];
small = Body_sphere(1, 0.25);
small.u = [-0.05; 0.05; 1.25];
sim = sim_addBody(sim, [Body_plane([0; 0; -3], [0; 0; 1]), large, small]);
sim = sim_run(sim);
near(sim.bodies(2).u(3), -1, 1e-5, 'sphere_on_sphere: the large one');
near(sim.bodies(3).u(3), -2.75, 1e-5, 'sphere_on_sphere: the small one is down');

% sliding_block: 15 degrees, 0.5 mu1 mu2 = 0.25 below the tangent of the slope. It slides by g (sin - mu cos) t^2 / 2.
sim = Simulator(0.01);
sim.MAX_STEP = 50;
sim.H_dynamics = @mLCPdynamics;
sim.num_fricdirs = 8;
slope = pi / 12;
ramp = mesh_rectangularBlock(2, 4, 0.1);
ramp.dynamic = false;
ramp.mu = 1;
ramp.quat = qt([1 0 0], slope);
block = mesh_rectangularBlock(0.1, 0.2, 0.05);
block.mu = 0.5;
block.quat = ramp.quat;
block.u = qtrotate(block.quat, [0; 0; 0.075]);
sim = sim_addBody(sim, [ramp block]);
sim = sim_run(sim);
slid = qtrotate(qtconj(ramp.quat), sim.bodies(2).u);
a = 9.81 * (sin(slope) - 0.25 * cos(slope));
near(-slid(2), a * 0.01 ^ 2 * 50 * 51 / 2, 2e-3, 'sliding_block'); % of 22 mm; a corner of the polygon need not point downhill

% simtest: cubes on a tilted cube, by pgs (which the release divides by zero): they come to rest on it or fall past it.
sim = Simulator();
sim.MAX_STEP = 100;
sim.H_solver = @pgs;
sim.num_fricdirs = 4;
b1 = scale_mesh(mesh_cube(), 2);
b1.u = [0.1; 0.2; -1];
b1.dynamic = false;
b1.quat = qt([1 1 1], 0.3);
b2 = mesh_cube();
b2.u = [0; 0; 1];
b3 = scale_mesh(mesh_cube(), 0.5);
b3.u = [0.3; 0.07; 2];
b3.quat = qt([0; 1; 1], pi / 4);
sim = sim_addBody(sim, [b1 b2 b3]);
sim = sim_run(sim);
inside = qtrotate(qtconj(b1.quat), sim.bodies(2).u - b1.u);
positions = [sim.bodies.u];
assert(all(isfinite(positions(:))) && norm(sim.bodies(2).nu) < 10 && max(abs(inside)) > 1.49);

% multi_mesh_test: the other solids.
sim = Simulator(0.015);
sim.MAX_STEP = 150;
sim.H_solver = @Lemke;
table = scale_mesh(mesh_cube(), 4);
table.u = [0; 0; -2];
table.dynamic = false;
solids = [mesh_tetrahedron(), scale_mesh(mesh_icosahedron(), 0.5), scale_mesh(mesh_dodecahedron(), 0.8), scale_mesh(mesh_octahedron(), 1.2)];
places = [1.2 -1.2 1.2 -1.2; 1.2 1.2 -1.2 -1.2; 1.2 0.8 1 1.4];
for k = 1:4
  solids(k).u = places(:, k);
end
sim = sim_addBody(sim, [table solids]);
sim = sim_run(sim);
heights = arrayfun(@(b) min(b.verts_world(:, 3)), sim.bodies(2:5));
near(heights, [0 0 0 0], 0.02, 'multi_mesh_test: on the table'); % one of them may still rock

% cart: a chassis on four wheels rolls down a slope.
sim = Simulator(0.01);
sim.MAX_STEP = 100;
sim.H_dynamics = @mLCPdynamics;
ground = Body_plane([0; 0; 0], [0; 0.17; 1]);
ground.mu = 1;
chassis = mesh_rectangularBlock(1, 3, 0.25);
chassis.u = [0; 0; 1];
wheel = mesh_cylinder(20, 1, 0.4, 0.2);
wheel.quat = qt([0 1 0], pi / 2);
wheel.mu = 1;
wheels = [wheel wheel wheel wheel];
spots = [0.65 -0.65 0.65 -0.65; 1.3 1.3 -1.3 -1.3; 0.75 0.75 0.75 0.75];
for k = 1:4
  wheels(k).u = spots(:, k);
end
sim = sim_addBody(sim, [ground chassis wheels]);
for k = 1:4
  sim = sim_addJoint(sim, 2, 2 + k, wheels(k).u, [1; 0; 0], 'revolute');
end
sim = sim_run(sim);
assert(sim.bodies(2).nu(2) > 0.5 && max(sim.history.joint_error(:, end)) < 0.05);

% grasp: two grippers on prismatic joints hold blocks between them, without slip.
sim = Simulator(0.01);
sim.MAX_STEP = 50;
sim.H_dynamics = @NoSlip;
sim.num_fricdirs = 4;
n = 2;
ground = Body_plane([0; 0; -1.5], [0; 0; 1]);
boxes = [mesh_rectangularBlock(1, 1, 1), mesh_rectangularBlock(1, 1, 1)];
for k = 1:n
  boxes(k).u = [-n / 2 + k - 0.5; 0; 0];
  boxes(k).mu = 10 ^ 20;
end
grippers = [mesh_cube(), mesh_cube()];
grippers(1).u = [n / 2 + 0.5; 0; 0];
grippers(2).u = [-n / 2 - 0.5; 0; 0];
grippers(1).mu = 10 ^ 20;
grippers(2).mu = 10 ^ 20;
sim = sim_addBody(sim, [ground grippers boxes]);
sim = sim_addJoint(sim, 1, 2, [1.5; 0; 0], [1; 0; 0], 'prismatic');
sim = sim_addJoint(sim, 1, 3, [-1.5; 0; 0], [1; 0; 0], 'prismatic');
sim.bodies(2).Fext(1) = -10 * n;
sim.bodies(3).Fext(1) = 10 * n;
sim = sim_run(sim);
heights = [sim.bodies(4:5).u];
near(heights(3, :), [0 0], 5e-3, 'grasp: the blocks are held'); % 0.5 s: a free fall would be 1.2 m

% boxpenalty: springs and dampers; the box lands, stays above the plane and does not fly away.
sim = Simulator(0.01);
sim.MAX_STEP = 100;
sim.FRICTION = true;
ground = Body_plane([0; 0; -0.2], [0; 0; 1]);
ground.mu = 1;
box = mesh_cube();
box.u = [0; 0; 0.3];
box.mu = 0.1;
box.nu = [0; 0; -1; 0; 0; 1];
sim = sim_addBody(sim, [ground box]);
[sim, timings] = sim_run_penalty(sim);
assert(timings > 0 && abs(sim.bodies(2).u(3) - 0.28) < 0.2);

% Todorov's: the small ball touches the plane, without the gap that RPIsim leaves.
sim = Simulator(0.01);
sim.MAX_STEP = 100;
ball = Body_sphere(1, 0.25);
ball.u = [0; 0; 0.5];
sim = sim_addBody(sim, [Body_plane([0; 0; 0], [0; 0; 1]), ball]);
sim = sim_run_Todorov(sim);
near(sim.bodies(2).u(3), 0.25, 1e-4, 'Todorov');
