function sim = plotEnergy(sim)
% sim = plotEnergy(sim)   a user function: kinetic, potential and total energy of body 2 while the run goes on
%
% The energies are also kept, one row for each step, in sim.userData.energy (J; potential from the origin). Draws nothing
% where there is no display.
%
% Example:
%   sim.userFunction = @plotEnergy;
%
% See also plotPVA, plotJointError
  B = sim.bodies(min(2, numel(sim.bodies)));
  R = qt2rot(B.quat);
  v = B.nu(1:3);
  w = R' * B.nu(4:6);
  kinetic = 0.5 * B.mass * (v' * v) + 0.5 * w' * B.J * w;
  potential = -B.mass * (sim.gravityVector(:)' * B.u(:)) * double(sim.gravity ~= 0);
  energy = [kinetic, potential, kinetic + potential];
  if ~isfield(sim.userData, 'energy')
    sim.userData.energy = [];
  end
  sim.userData.energy(end + 1, :) = energy;
  sim = rpisim_live_plot(sim, 'energy', energy, 'kinetic, potential, total energy (J)');
end
