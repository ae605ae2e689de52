function sim = updateJoint(sim, j)
% sim = updateJoint(sim, j)   where joint j is, as its two bodies see it, and its angle or slide theta
%
% theta is signed, and counts body 2 against body 1 about or along the axis; RPIsim's slide has no sign.
%
% See also sim_addJoint, joint_constraintError
  J = sim.joints(j);
  B1 = sim.bodies(J.body1id);
  B2 = sim.bodies(J.body2id);
  J.T1world = [qt2rot(B1.quat), B1.u(:); 0 0 0 1] * J.T1;
  J.T2world = [qt2rot(B2.quat), B2.u(:); 0 0 0 1] * J.T2;
  J.P1 = J.T1world(1:3, 4);
  J.X1 = J.P1 + J.T1world(1:3, 1);
  J.Y1 = J.P1 + J.T1world(1:3, 2);
  J.Z1 = J.P1 + J.T1world(1:3, 3);
  J.P2 = J.T2world(1:3, 4);
  J.X2 = J.P2 + J.T2world(1:3, 1);
  J.Y2 = J.P2 + J.T2world(1:3, 2);
  J.Z2 = J.P2 + J.T2world(1:3, 3);
  if strcmp(J.type, 'revolute')
    x2 = J.T2world(1:3, 1);
    J.theta = atan2(x2' * J.T1world(1:3, 2), x2' * J.T1world(1:3, 1));
  elseif strcmp(J.type, 'prismatic')
    J.theta = J.T1world(1:3, 3)' * (J.P2 - J.P1);
  end
  sim.joints(j) = J;
end
