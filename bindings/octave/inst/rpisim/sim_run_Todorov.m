function sim = sim_run_Todorov(sim)
% sim = sim_run_Todorov(sim)   sim_run with sim.H_dynamics = @TodorovLCPdynamics
%
% Coulomb's law on the exact friction cone. Unlike in RPIsim, gaps, joints and the whole inertia count.
%
% Example:
%   sim = sim_run_Todorov(sim);
%
% See also sim_run
  sim.H_dynamics = @TodorovLCPdynamics;
  sim = sim_run(sim);
end
