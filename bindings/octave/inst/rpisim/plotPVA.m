function sim = plotPVA(sim)
% sim = plotPVA(sim)   a user function: height, vertical velocity and acceleration of body 2 while the run goes on
%
% They are also kept, one row for each step, in sim.userData.pva. Draws nothing where there is no display.
%
% Example:
%   sim.userFunction = @plotPVA;
%
% See also plotEnergy, plotJointError
  B = sim.bodies(min(2, numel(sim.bodies)));
  if ~isfield(sim.userData, 'pva')
    sim.userData.pva = [];
  end
  acceleration = 0;
  if ~isempty(sim.userData.pva)
    acceleration = (B.nu(3) - sim.userData.pva(end, 2)) / sim.h;
  end
  pva = [B.u(3), B.nu(3), acceleration];
  sim.userData.pva(end + 1, :) = pva;
  sim = rpisim_live_plot(sim, 'pva', pva, 'z, its rate and acceleration');
end
