function sim = sim_run(sim)
% sim = sim_run(sim)   runs a simulation in RPIsim's form for sim.MAX_STEP steps
%
% Each step: sim.time and sim.step advance; sim = sim.userFunction(sim), which may change anything in sim.bodies and the
% settings of gravity and friction; collision detection; dynamics; the bodies move; drawing; recording. Afterwards
% sim.bodies, sim.joints and sim.contacts are those of the last step; sim.solution_error has the relative energy error
% of every step, sim.history.joint_error and joint_speed_error (joints x steps) what plotJointError shows.
%
% With sim.record, a new directory (sim.record_directory) gets bodies.mat and sim_log.txt for sim_replay, and frames.h5
% with every step as a problem that can be solved again, judged, and shown by `stickslip view`.
%
% Unlike in RPIsim: no key is waited for, nothing is printed for each step, gravity is not added to Fext, and nothing
% is drawn where there is no display. There, a run whose MAX_STEP was not set ends after 1000 steps.
%
% Example:
%   sim = Simulator(0.01);
%   sim.MAX_STEP = 100;
%   sim = sim_addBody(sim, [Body_plane([0; 0; 0], [0; 0; 1]), Body_sphere(1, 0.5)]);
%   sim.bodies(2).u = [0; 0; 2];
%   sim = sim_run(sim);
%
% See also Simulator, sim_addBody, sim_replay, plotJointError
  sim = take_notes(sim);
  if isempty(sim.bodies)
    error('stickslip:usage', 'sim_run: there are no bodies; sim_addBody adds them');
  end
  for k = 1:numel(sim.bodies)
    sim.bodies(k) = body_updateMesh(sim.bodies(k)); % the script may have moved it
  end
  sim.draw = sim.draw && rpisim_display();
  steps = sim.MAX_STEP;
  if steps >= 1e9 && ~sim.draw
    steps = 1000;
    fprintf('sim_run: MAX_STEP is not set and there is no window to close: %d steps\n', steps);
  end

  [w, plan] = rpisim_world(sim);
  if ~isempty(plan.collide)
    ss_replace(w, 'collision', @() collide(plan.collide));
  end
  if ~isempty(plan.dynamics)
    ss_replace(w, 'dynamics', @(frame) dynamics(plan.dynamics, frame));
  end
  if ~isempty(plan.solve)
    ss_replace(w, 'solver', plan.solve);
  end
  [before, before_w] = rpisim_current();
  restore = onCleanup(@() rpisim_current(before, before_w));
  rpisim_current(sim, w);
  stickslip_mex('world_start', w.id, plan.options);
  log = -1;
  if sim.record
    [sim, log] = begin_record(sim);
    close_log = onCleanup(@() fclose(log));
    ss_record(w, fullfile(sim.record_directory, 'frames.h5'));
  end
  if sim.draw
    if ~ishghandle(sim.figure)
      [sim.bodies.graphicsHandle] = deal([]); % the window of an earlier run was closed
    end
    sim = sim_draw(sim);
  end

  started = tic;
  watched = ~isempty(sim.userFunction) || ~isempty(plan.collide) || ~isempty(plan.dynamics) || sim.draw;
  chunk = max(1, floor(1e6 / (7 * numel(sim.bodies))));
  histories = {};
  left = steps;
  while left > 0
    if watched
      n = 1;
      sim.time = sim.time + sim.h;
      sim.step = sim.step + 1;
      if ~isempty(sim.userFunction)
        before_step = sim;
        changed = feval(sim.userFunction, sim);
        if ~isstruct(changed) || ~isfield(changed, 'bodies')
          error('stickslip:usage', 'userFunction returned a %s: it is sim = f(sim), and returns the struct', class(changed));
        end
        sim = update_static(changed, before_step);
        rpisim_push(w, sim, before_step, plan);
      end
      rpisim_current(sim);
    else
      n = min(left, chunk);
    end
    [report, history] = stickslip_mex('world_step', w.id, n);
    if watched
      sim = rpisim_current();
      sim = rpisim_pull(w, sim);
      sim.contacts = rpisim_contacts(stickslip_mex('world_contacts', w.id));
    else
      sim.time = sim.time + report.done * sim.h;
      sim.step = sim.step + report.done;
    end
    left = left - report.done;
    if log >= 0
      times = sim.time + sim.h * (1 - report.done:0);
      fprintf(log, [repmat('%.17g ', 1, size(history.poses, 1)), '%.17g\n'], [times; history.poses]);
    end
    history = rmfield(history, 'poses');
    histories{end + 1} = history;
    if sim.draw
      sim = sim_draw(sim);
      if ~ishghandle(sim.figure)
        break
      end
    end
  end
  if sim.record
    ss_record(w);
  end
  sim.TOTAL_TIME = toc(started);
  sim = rpisim_pull(w, sim);
  sim.contacts = rpisim_contacts(stickslip_mex('world_contacts', w.id));
  sim = keep_history(sim, histories);
end

% What sim.setRecord(true) and sim.newJoint(...) asked for.
function sim = take_notes(sim)
  notes = rpisim_notes('take', sim.id);
  for k = 1:numel(notes)
    if strcmp(notes(k).name, 'record')
      sim.record = logical(notes(k).value);
    else
      sim = sim_addJoint(sim, notes(k).value{:});
    end
  end
end

% Static bodies that the user function has put elsewhere.
function sim = update_static(sim, before)
  static = find(~[sim.bodies.dynamic]);
  if ~isequal([sim.bodies(static).u], [before.bodies(static).u]) || ...
     ~isequal([sim.bodies(static).quat], [before.bodies(static).quat])
    for k = static
      sim.bodies(k) = body_updateMesh(sim.bodies(k));
    end
  end
end

% The user's collision detection, called by the library.
function c = collide(f)
  sim = rpisim_current();
  sim.contacts = [];
  sim.num_activeBodies = 0;
  [sim.bodies.active] = deal(false);
  sim = feval(f, sim);
  rpisim_current(sim);
  c = rpisim_found(sim);
end

% The user's dynamics, called by the library: velocities of the dynamic bodies after the step. As in RPIsim it is asked only
% if there is a contact or a joint; bodies without fly freely. Gravity and gyroscopic torques are in the forces.
function velocities = dynamics(f, frame)
  [sim, w] = rpisim_current();
  nb = numel(frame.bodies.masses);
  forces = reshape(frame.bodies.forces, 6, nb);
  velocities = reshape(frame.bodies.velocities, 6, nb);
  inertia = frame.bodies.world_inertia_tensors;
  for b = 1:nb
    I = inertia(:, 3 * b - 2:3 * b);
    velocities(:, b) = velocities(:, b) + frame.timestep * [forces(1:3, b) / frame.bodies.masses(b); I \ forces(4:6, b)];
  end

  sim.contacts = rpisim_contacts(stickslip_mex('world_contacts', w.id));
  sim.newNU = [];
  if ~isempty(sim.contacts) || sim.num_jointConstraints > 0
    sim = preDynamics(sim);
    moving = find([sim.bodies.dynamic]);
    for b = 1:nb
      id = sim.bodies(moving(b)).bodyContactID;
      if id > 0
        sim.dynamics.FX(6 * id + (-5:0)) = forces(:, b);
      end
    end
    answer = feval(f, sim);
    if isstruct(answer)
      sim = answer;
    else
      sim.newNU = answer(:); % as in older versions of RPIsim
    end
    if numel(sim.newNU) ~= 6 * sim.num_activeBodies
      error('stickslip:usage', 'H_dynamics: newNU has %d numbers, expected %d', numel(sim.newNU), 6 * sim.num_activeBodies);
    end
    for b = 1:nb
      id = sim.bodies(moving(b)).bodyContactID;
      if id > 0
        velocities(:, b) = full(sim.newNU(6 * id + (-5:0)));
      end
    end
  end
  rpisim_current(sim);
end

function [sim, log] = begin_record(sim)
  name = ['sim_data_' datestr(now(), 'yy_mm_dd_HH_MM_SS')];
  directory = name;
  k = 1;
  while exist(directory, 'dir')
    k = k + 1;
    directory = sprintf('%s_%d', name, k);
  end
  mkdir(directory);
  bodies = sim.bodies;
  h = sim.h;
  save(fullfile(directory, 'bodies.mat'), '-v7', 'bodies', 'h');
  sim.record_directory = directory;
  log = fopen(fullfile(directory, 'sim_log.txt'), 'w');
end

function sim = keep_history(sim, histories)
  all = [histories{:}];
  if isempty(all)
    return
  end
  sim.history.joint_error = [sim.history.joint_error, all.joint_error];
  sim.history.joint_speed_error = [sim.history.joint_speed_error, all.joint_speed_error];
  sim.history.contacts = [sim.history.contacts, all.contacts];
  errors = [all.error];
  if ~any(isnan(errors)) % dynamics of the user keep their own
    sim.solution_error = [sim.solution_error, errors];
  end
end
