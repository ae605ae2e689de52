function [G1, G2] = joint_Jacobians(sim, j)
% [G1, G2] = joint_Jacobians(sim, j)   6 x n each: G1' nu1 + G2' nu2 is the rate of the error of joint j
%
% See also joint_constraintError, preDynamics
  J = sim.joints(j);
  axes1 = J.T1world(1:3, 1:3);
  r1 = J.P1 - sim.bodies(J.body1id).u(:);
  r2 = J.P2 - sim.bodies(J.body2id).u(:);
  G1 = [axes1, zeros(3); hat(r1) * axes1, axes1];
  G2 = -[axes1, zeros(3); hat(r2) * axes1, axes1];
  G1 = G1(:, J.mask);
  G2 = G2(:, J.mask);
end
