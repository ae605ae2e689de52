function [sim, timings] = sim_run_penalty(sim)
% [sim, timings] = sim_run_penalty(sim)   sim_run with sim.H_dynamics = @penalty
%
% Contacts are springs and dampers (100 N/m, 1 N s/m, as in RPIsim), integrated in ten substeps; sim.penalty_integrator is
% not used. Unlike RPIsim's, they never pull, and joints are held. For other gains:
% sim.options = {'with=stiffness=1e4', 'with=damping=50', 'substeps=20'}.
%
% Example:
%   sim = sim_run_penalty(sim);
%
% See also sim_run
  sim.H_dynamics = @penalty;
  sim = sim_run(sim);
  timings = sim.TOTAL_TIME;
end
