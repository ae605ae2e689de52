function sim = plotJointError(sim)
% plotJointError(sim)   after a run: the errors of all joints over time, of positions and of velocities
%
% sim = plotJointError(sim) is also a user function (sim.userFunction = @plotJointError), which draws the error of joint 1
% while the run goes on, as in RPIsim. The errors themselves are in sim.history.joint_error and joint_speed_error,
% one row for each joint and one column for each step: the largest violation, in m or rad and per second. Draws nothing
% where there is no display.
%
% Example:
%   sim = sim_run(sim);
%   plotJointError(sim);
%
% See also joint_constraintError, sim_run
  if ~rpisim_display()
    return
  end
  if nargout > 0
    sim = rpisim_live_plot(sim, 'joint_error', norm(joint_constraintError(sim, 1)), 'norm(Joint Error)');
    return
  end
  n = size(sim.history.joint_error, 2);
  time = sim.time - sim.h * (n - 1:-1:0);
  figure();
  subplot(2, 1, 1);
  semilogy(time, max(sim.history.joint_error, realmin())');
  ylabel('joint error (m, rad)');
  subplot(2, 1, 2);
  semilogy(time, max(sim.history.joint_speed_error, realmin())');
  ylabel('its rate (m/s, rad/s)');
  xlabel('time (s)');
end
