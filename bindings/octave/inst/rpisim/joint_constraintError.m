function [C, Cdot] = joint_constraintError(sim, j)
% [C, Cdot] = joint_constraintError(sim, j)   errors of the equations of joint j, in m and rad, and their rates
%
% Body 1 against body 2 along and about the axes x, y, z of the joint as body 1 sees them, as far as they are held.
% RPIsim leaves the rotations zero.
%
% See also plotJointError, joint_Jacobians
  sim = updateJoint(sim, j);
  J = sim.joints(j);
  R1 = J.T1world(1:3, 1:3);
  R2 = J.T2world(1:3, 1:3);
  turn = cross3(R2(:, 3), R1(:, 3));
  if any(J.mask == 6)
    turn = 0.5 * (turn + cross3(R2(:, 1), R1(:, 1)) + cross3(R2(:, 2), R1(:, 2)));
  end
  C = [R1' * (J.P1 - J.P2); R1' * turn];
  C = C(J.mask);
  [G1, G2] = joint_Jacobians(sim, j);
  Cdot = zeros(size(C));
  if sim.bodies(J.body1id).dynamic
    Cdot = Cdot + G1' * sim.bodies(J.body1id).nu(:);
  end
  if sim.bodies(J.body2id).dynamic
    Cdot = Cdot + G2' * sim.bodies(J.body2id).nu(:);
  end
end
