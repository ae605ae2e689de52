function table = bench_rpisim(release, steps)
% table = bench_rpisim(release, steps)   time per step of scenes in RPIsim's form: ours, and RPIsim's own if its folder is given
%
% bench_rpisim prints ours: through sim_run, through sim_run with a user function (which keeps sim.bodies up to date at
% every step), and the same scene by ss_step. RPIsim is not part of this repository: if you have it, give the folder of
% its release, bench_rpisim('~/rpi-matlab-simulator'), and gets its time per step beside ours and the ratio. It runs in a
% process of its own, because its functions have the same names, for a tenth of the steps, and without drawing.
%
% Example:
%   addpath bindings/octave/inst bindings/octave/bench build/release/octave
%   bench_rpisim
%
% See also rpisim_setup, sim_run
  rpisim_setup
  if nargin < 1
    release = '';
  end
  if nargin < 2
    steps = 200;
  end
  scenes = {'spheres', 8; 'spheres', 100; 'boxes', 8; 'boxes', 50; 'stack', 5; 'pendulum', 5};
  table = struct('name', {}, 'bodies', {}, 'run', {}, 'watched', {}, 'step', {}, 'theirs', {});
  fprintf('time per step in ms, mean of %d steps\n', steps);
  fprintf('%-12s %10s %12s %10s', 'scene', 'sim_run', 'userFunction', 'ss_step');
  if ~isempty(release)
    fprintf(' %12s %10s', 'RPIsim', 'ratio');
  end
  fprintf('\n');
  for k = 1:size(scenes, 1)
    row = struct('name', scenes{k, 1}, 'bodies', scenes{k, 2}, 'run', 0, 'watched', 0, 'step', 0, 'theirs', NaN);
    sim = rpisim_scene(row.name, row.bodies);
    sim.MAX_STEP = steps;
    done = sim_run(sim);
    row.run = 1e3 * done.TOTAL_TIME / steps;
    sim.userFunction = @(s) s;
    done = sim_run(sim);
    row.watched = 1e3 * done.TOTAL_TIME / steps;
    row.step = 1e3 * plain(sim, steps);
    fprintf('%-8s %3d %10.3f %12.3f %10.3f', row.name, row.bodies, row.run, row.watched, row.step);
    if ~isempty(release)
      row.theirs = 1e3 * run_release(release, row.name, row.bodies, max(1, round(steps / 10)));
      fprintf(' %12.1f %10.0f', row.theirs, row.theirs / row.run);
    end
    fprintf('\n');
    table(end + 1) = row;
  end
end

% The same bodies by the toolbox's own names and the simulator's defaults: Coulomb's cone and fast sweeps instead of Lemke's
% method on a polygon.
function seconds = plain(sim, steps)
  w = ss_world();
  for k = 1:numel(sim.bodies)
    B = sim.bodies(k);
    if strcmp(B.type, 'plane')
      ss_body(w, 'plane', [], 'position', B.u);
    elseif strcmp(B.type, 'sphere')
      ss_body(w, 'sphere', B.radius, 'mass', B.mass, 'position', B.u, 'velocity', B.nu);
    else
      ss_body(w, 'box', max(B.verts_local) - min(B.verts_local), 'mass', B.mass, 'inertia', B.J, 'position', B.u, ...
              'quaternion', B.quat, 'velocity', B.nu);
    end
  end
  for k = 1:numel(sim.joints)
    J = sim.joints(k);
    ss_joint(w, 'ball', J.body1id, J.body2id, J.pos);
  end
  ss_start(w, 'dt', sim.h);
  started = tic;
  ss_step(w, steps);
  seconds = toc(started) / steps;
end

% In another process: without its figure and the key it waits for, which functions of the same names in front of it stand for.
function seconds = run_release(release, name, bodies, steps)
  stubs = tempname();
  mkdir(stubs);
  write(fullfile(stubs, 'sim_draw_init.m'), 'function sim = sim_draw_init(sim)', 'end');
  write(fullfile(stubs, 'pause.m'), 'function pause(varargin)', 'end');
  here = fileparts(mfilename('fullpath'));
  copyfile(fullfile(here, 'rpisim_scene.m'), stubs);
  code = sprintf(['addpath(genpath(''%s'')); addpath(''%s''); sim = rpisim_scene(''%s'', %d); sim.MAX_STEP = %d; ' ...
                  'sim = sim_run(sim); fprintf(''\\nseconds %%.17g\\n'', sim.TOTAL_TIME);'], release, stubs, name, bodies, steps);
  [status, said] = system(sprintf('octave-cli --norc --quiet --no-history --eval "%s" < /dev/null', code));
  rmdir(stubs, 's');
  found = regexp(said, 'seconds ([\d.e+-]+)', 'tokens', 'once');
  if status ~= 0 || isempty(found)
    fprintf('\n%s\n', said);
    error('stickslip:usage', 'bench_rpisim: the release in %s did not run', release);
  end
  seconds = str2double(found{1}) / steps;
end

function write(path, varargin)
  file = fopen(path, 'w');
  fprintf(file, '%s\n', varargin{:});
  fclose(file);
end
