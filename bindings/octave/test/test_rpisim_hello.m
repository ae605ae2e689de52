% The hello-world script of the paper's Figure 8, by the names of the release and by those of the paper.
evalc('rpisim_hello_world_example');
peg = sim.bodies(5);
assert(sim.step == 1000 && ~sim.draw && isequal(size(sim.solution_error), [1 1000]));
assert(peg.u(3) < -10);                    % it went through, with 5 micrometres to spare on each side,
near(peg.u(1:2), [0; 0], 1.1e-5, 'sideways'); % and left as it had been guided: the clearance and some tolerance of contacts
near(sim.solution_error, 0, 1e-8, 'every step solved'); % the stop rule

% One that is 5 micrometres too large stays out.
sim = Simulator();
big = scale_mesh(mesh_cube(), 1.00001);
big.u = [0; 0; 1.5];
sim = sim_addBody(sim, [c1 c2 c3 c4 big]);
sim.MAX_STEP = 300;
sim = sim_run(sim);
near(sim.bodies(5).u, [0; 0; 1], 1e-3, 'a peg that does not fit stands on the mouth'); % penetration below 1 mm

% The paper's spelling: setRecord, newJoint, SimReplay.
cd(getenv('SS_SCRATCH'));
sim = Simulator(0.005);
sim.setRecord(true);
sim.MAX_STEP = 40;
rod = mesh_cylinder(7, 1, 0.1, 0.5);
rod.u = [0.25; 0; 0];
rod.quat = qt([0; 1; 0], pi / 2);
sim = sim_addBody(sim, [body_setDynamic(mesh_cube(), false), rod]);
sim.newJoint(1, 2, [0; 0; 0], [0; 1; 0], 'revolute');
sim = sim_run(sim);
assert(numel(sim.joints) == 1 && sim.record && ~isempty(sim.record_directory));
log = SimReplay(sim.record_directory);
near(log.u(:, 2, end), sim.bodies(2).u, 0, 'the last step of the recording');
sim = sim_addBody(setRecord(Simulator(), true), [body_setDynamic(mesh_cube(), false), rod]);
sim = newJoint(sim, 1, 2, [0; 0; 0], [0; 0; 1], 'fixed');
assert(sim.record && sim.num_jointConstraints == 6);
