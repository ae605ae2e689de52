function plan = rpisim_plan(sim)
% rpisim_plan  What the fields H_collision_detection, H_dynamics, H_solver and so on mean for the simulator of the library.
%
% plan.collide, plan.dynamics, plan.solve: functions of the user, [] = ours. plan.options: cells of 'name=value'.
  plan = struct('collide', [], 'dynamics', [], 'solve', [], 'no_slip', false, 'options', {{}});
  exact = false;
  if isempty(sim.H_collision_detection)
    plan.collide = @(s) s;
  elseif rpisim_is_own(sim.H_collision_detection)
    plan.collide = sim.H_collision_detection;
  else
    name = char_of(sim.H_collision_detection);
    known = {'collision_detection', 'get_constraints_by_configuration', 'get_all_contacts_3d', 'BulletCD'};
    if ~any(strcmp(name, known))
      error('stickslip:usage', 'H_collision_detection: there is no function ''%s''', name);
    end
  end

  % Formulation.
  if rpisim_is_own(sim.H_dynamics)
    plan.dynamics = sim.H_dynamics;
    formulation = 'frictionless'; % only the frame is used
  else
    [formulation, plan.no_slip, exact] = formulation_of(sim);
  end
  if ~sim.FRICTION && ~strcmp(formulation, 'penalty')
    formulation = 'frictionless';
  end
  has_polygon = any(strcmp(formulation, {'stewart-trinkle', 'anitescu-potra'}));

  % Solver. The friction LCP has zeros on its diagonal, by which sweeps would divide: they work on Coulomb's cone.
  [solver, own, iterations] = rpisim_solver_name(sim.H_solver);
  is_sweep = any(strcmp(solver, {'pgs', 'psor', 'jacobi', 'projected-fixed-point'}));
  is_pivoting = any(strcmp(solver, {'lemke', 'path', 'qp'}));
  if own && isempty(plan.dynamics)
    if ~has_polygon && ~strcmp(formulation, 'frictionless')
      error('stickslip:usage', ['H_solver: a function of yours solves LCPs, but H_dynamics makes the problem of the ' ...
                              'formulation ''%s''; use @LCPdynamics or @APdynamics'], formulation);
    end
    plan.solve = sim.H_solver;
  end
  options = {sprintf('dt=%.17g', sim.h), 'threads=1'};
  if exact
    options{end + 1} = 'peg=select';
  end
  if is_sweep && has_polygon
    if strcmp(formulation, 'anitescu-potra')
      options = [options, {'with=gap_term=zero', 'with=contact_margin=1e-4'}]; % as that formulation
    end
    formulation = 'cone';
    has_polygon = false;
  end
  options{end + 1} = ['formulation=' formulation];
  if has_polygon
    options{end + 1} = sprintf('with=directions=%d', max(3, sim.num_fricdirs));
  end
  gaps_given = any(strcmp(formulation, {'anitescu-potra', 'penalty'})) || any(strcmp('with=gap_term=zero', options));
  if ~gaps_given
    options{end + 1} = 'with=gap_term=preventive';
  end
  if strcmp(formulation, 'penalty')
    options = [options, {'with=stiffness=100', 'with=damping=1', 'substeps=10'}]; % RPIsim's gains; it integrates adaptively
  end
  if isempty(plan.solve) && isempty(plan.dynamics) && ~(is_pivoting && any(strcmp(formulation, {'cone', 'convex', 'penalty'})))
    options = [options, {['solver=' solver], sprintf('iterations=%d', iterations), 'finisher=none', ...
                         'stop=relative_energy<1e-8'}];
  end

  % Joints: held at the level of velocities, so that their errors drift unless they are corrected.
  if sim.jointCorrection
    options{end + 1} = 'joints=impulse';
  else
    options{end + 1} = 'joints=none';
  end
  plan.options = [options, sim.options(:)'];
end

function [formulation, no_slip, exact] = formulation_of(sim)
  table = {
    'LCPdynamics',         'stewart-trinkle'
    'mLCPdynamics',        'stewart-trinkle'
    'LCPparticleDynamics', 'stewart-trinkle'
    'APdynamics',          'anitescu-potra'
    'NCPdynamics',         'cone'
    'mNCPdynamics',        'cone'
    'TodorovLCPdynamics',  'cone'
    'NoSlip',              'cone'
    'Drumwrightdynamics',  'convex'
    'penalty',             'penalty'
    'PEG3d',               'stewart-trinkle'
    'PEGdynamics',         'stewart-trinkle'
    };
  name = char_of(sim.H_dynamics);
  no_slip = strcmp(name, 'NoSlip');
  exact = any(strcmp(name, {'PEG3d', 'PEGdynamics'}));
  if exact
    known = stickslip_mex('world_options');
    if ~any(strcmp('peg', {known.name}))
      error('stickslip:usage', ['H_dynamics: this build of the library has no polyhedral exact geometry; ' ...
                                '@LCPdynamics is Stewart and Trinkle''s']);
    end
  end
  known = ss_formulations();
  k = find(strcmp(name, table(:, 1)), 1);
  if ~isempty(k)
    formulation = table{k, 2};
  else
    formulation = name;
  end
  if ~any(strcmp(formulation, {known.name}))
    error('stickslip:usage', 'H_dynamics: ''%s'' is neither a function nor a formulation of RPIsim or of this library', ...
          name);
  end
end

function name = char_of(f)
  name = f;
  if ~ischar(name)
    name = strrep(func2str(f), '@', '');
  end
end
