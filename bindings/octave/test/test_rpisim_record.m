% Recording and replay: RPIsim's directory, in full precision, and the frames beside it.
rpisim_setup
cd(getenv('SS_SCRATCH'));
ground = Body_plane([0; 0; 0], [0; 0; 1]);
ball = Body_sphere(2, 0.3);
ball.u = [0.1; 0; 0.35];
ball.nu = [1; 0; 0; 0; 0; 0];
for watched = [false true]
  sim = Simulator(0.01);
  sim.record = true;
  sim.MAX_STEP = 30;
  if watched
    sim.userFunction = @rpisim_watch;
    sim.userData.z = [];
  end
  sim = sim_addBody(sim, [ground ball]);
  sim = sim_run(sim);
  directory = sim.record_directory;
  assert(~isempty(regexp(directory, '^sim_data_\d\d_\d\d_\d\d_\d\d_\d\d_\d\d', 'once')));
  log = sim_replay(directory);
  near(log.time, 0.01 * (1:30), 1e-12, 'times'); % rounding of a sum
  assert(isequal(size(log.u), [3 2 30]) && isequal(size(log.quat), [4 2 30]));
  near(log.u(:, 2, end), sim.bodies(2).u, 0, 'last position');
  near(log.quat(:, 2, end), sim.bodies(2).quat, 0, 'last orientation');
  near(log.u(:, 1, :), zeros(3, 30), 0, 'the plane stays');
  assert(numel(log.bodies) == 2 && log.bodies(2).mass == 2);
  if watched
    near(squeeze(log.u(3, 2, 1:29))', sim.userData.z(2:30), 0, 'what the user function saw is what was recorded');
  end

  % Every step is a frame, with the answer of the run.
  frames = ss_read(fullfile(directory, 'frames.h5'));
  names = fieldnames(frames.simulation_000001);
  names = names(strncmp(names, 'mbs_frame', 9));
  assert(numel(names) == 30);
  last = frames.simulation_000001.(names{30});
  near(last.bodies.masses, 2, 0, 'mass in the frame');
  near(last.contacts.mu_k, 0.125, 1e-15, 'friction in the frame: 0.5 mu1 mu2');
  result = ss_solve(last, 'nsgs', 'with', 'gap_term=preventive');
  near(result.velocities(1:3), sim.bodies(2).nu(1:3), 0.05, 'solved again, on the exact cone'); % the polygon of 7 differs
end

% A recording of the release has six decimals and nothing else in its directory.
mkdir('theirs');
bodies = log.bodies;
save(fullfile('theirs', 'bodies.mat'), '-v7', 'bodies');
out = fopen(fullfile('theirs', 'sim_log.txt'), 'w');
fprintf(out, '%f %f %f %f %f %f %f %f %f %f %f %f %f %f %f\n', 0.01, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 1, 0, 0, 0);
fclose(out);
log = sim_replay('theirs');
near(log.u(:, 2, 1), [1; 2; 3], 0, 'theirs');
