function sim = Simulator(h)
% sim = Simulator(h)   a simulation in RPIsim's form, with time step h (0.01 s)
%
% A plain struct; its fields are RPIsim's:
%
%   h, MAX_STEP, gravity, gravityVector, FRICTION, num_fricdirs, jointCorrection, record, draw, drawContacts,
%   drawJoints, drawBoundingBoxes, userFunction, userData, H_collision_detection, H_dynamics, H_solver,
%   bodies, joints, contacts, step, time, solution_error
%
% and three of ours: friction_rule ('rpisim': 0.5 mu1 mu2, as there; 'geometric': sqrt(mu1 mu2)), options (cells of
% 'name=value' for the simulator, as for `stickslip run`), and history (after the run).
%
% H_dynamics  @LCPdynamics (default), @mLCPdynamics, @APdynamics, @NCPdynamics, @mNCPdynamics, @penalty, @PEG3d,
%             @TodorovLCPdynamics, @Drumwrightdynamics, @NoSlip, a name of ss_formulations, or a function of yours:
%             sim = f(sim), which reads sim.dynamics and sets sim.newNU
% H_solver    @pathsolver (default), @Lemke, @pgs, @psor, @fischer_newton, @minmap_newton, @ip_lcp, @qp_lcp,
%             @prox_LCP, @prox_NCP, a name of ss_solvers, or a function of yours: z = f(A, b)
% H_collision_detection
%             @collision_detection (default), [] for none, or a function of yours: sim = f(sim), sets sim.contacts
%
% Unlike RPIsim's, the default settings run: @pathsolver is the solver `path` of this library.
%
% Example:
%   sim = Simulator(0.005);
%   sim.H_solver = @Lemke;
%   sim.MAX_STEP = 200;
%
% See also sim_addBody, sim_addJoint, sim_run, sim_replay
  if nargin < 1
    h = 0.01;
  end
  sim = struct();
  sim.h = h;
  sim.time = 0;
  sim.step = 0;
  sim.MAX_STEP = 1e9;
  sim.gravity = true;
  sim.gravityVector = [0; 0; -9.81];
  sim.FRICTION = true;
  sim.num_fricdirs = 7;
  sim.friction_rule = 'rpisim';
  sim.jointCorrection = false;
  sim.record = false;
  sim.record_directory = '';
  sim.userFunction = [];
  sim.userData = struct();
  sim.options = {};

  sim.H_collision_detection = @collision_detection;
  sim.H_dynamics = @LCPdynamics;
  sim.H_solver = @pathsolver;

  sim.num_bodies = 0;
  sim.bodies = [];
  sim.joints = [];
  sim.contacts = [];
  sim.dynamics = struct();
  sim.newNU = [];
  sim.num_jointConstraints = 0;
  sim.num_activeBodies = 0;
  sim.num_dynamicBodies = 0;
  sim.solution_error = [];
  sim.history = struct('joint_error', [], 'joint_speed_error', [], 'contacts', []);

  sim.epsilon = 0.05;
  sim.figure = 1;
  sim.draw = true;
  sim.drawContacts = false;
  sim.drawBoundingBoxes = false;
  sim.drawJoints = false;

  % The paper writes sim.setRecord(true) and sim.newJoint(...): calls that cannot change a struct. They leave a note
  % that sim_run finds.
  id = rpisim_notes('new');
  sim.id = id;
  sim.setRecord = @(flag) rpisim_notes('add', id, 'record', flag);
  sim.newJoint = @(varargin) rpisim_notes('add', id, 'joint', varargin);
end
