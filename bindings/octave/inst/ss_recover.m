function answer = ss_recover(problem, x)
% answer = ss_recover(problem, x)   velocities and impulses of the bodies, from the unknowns of a problem
%
% The problem comes from ss_problem. The answer is a struct of the form of solver_data in files:
%   velocities  1 x 6n, m/s and rad/s, linear then angular, after the step
%   lambda      1 x rows, impulses of joints
%   normal      1 x m, normal impulses on the second body
%   tangent     3 x m, friction impulses on the second body, world frame
%   rolling     3 x m, moments of rolling friction, where there are some
%
% Example:
%   problem = ss_problem(frame, 'box');
%   answer = ss_recover(problem, zeros(size(problem.b)));    % bodies that nothing holds
%
% See also ss_judge, ss_problem
  if ~isfield(problem, 'frame')
    error('stickslip:usage', 'ss_recover: the problem does not come from a frame');
  end
  answer = stickslip_mex('recover', problem.frame, problem.formulation, problem.with, x);
end
