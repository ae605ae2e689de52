function log = sim_replay(directory)
% log = sim_replay(directory)   shows a run that was recorded with sim.record = true
%
% Draws it where there is a display. log.time, and for every body and step log.u (3 x bodies x steps) and log.quat
% (4 x bodies x steps); log.bodies as they were added. Numbers are recorded in full; RPIsim keeps six decimals. Its own
% recordings are read too. frames.h5 in the same directory is for `stickslip view` and ss_read.
%
% Example:
%   log = sim_replay(sim.record_directory);
%   plot(log.time, squeeze(log.u(3, 2, :)))
%
% See also SimReplay, sim_run
  stored = load(fullfile(directory, 'bodies.mat'));
  n = numel(stored.bodies);
  file = fopen(fullfile(directory, 'sim_log.txt'), 'r');
  if file < 0
    error('stickslip:usage', 'sim_replay: no sim_log.txt in %s', directory);
  end
  numbers = fscanf(file, '%f', [7 * n + 1, Inf]);
  fclose(file);
  log = struct();
  log.time = numbers(1, :);
  poses = reshape(numbers(2:end, :), 7, n, []);
  log.u = poses(1:3, :, :);
  log.quat = poses(4:7, :, :);
  log.bodies = stored.bodies;
  if ~rpisim_display()
    return
  end

  sim = Simulator();
  sim.draw = true;
  sim.bodies = stored.bodies;
  started = tic;
  for k = 1:numel(log.time)
    for b = 1:n
      sim.bodies(b).u = log.u(:, b, k);
      sim.bodies(b).quat = log.quat(:, b, k);
      sim.bodies(b) = body_updateMesh(sim.bodies(b));
    end
    sim.step = k;
    sim = sim_draw(sim);
    if ~ishghandle(sim.figure)
      return
    end
    pause(max(0, log.time(k) - log.time(1) - toc(started)));
  end
end
