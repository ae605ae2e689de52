function joint = Joint()
% joint = Joint()   a joint of RPIsim with default properties; sim_addJoint makes joints
%
% Fields: type, body1id, body2id, mask (which of the six directions x y z, about x y z of the joint frame are held),
% numConstraints, pos, Xdir, Ydir, Zdir (the axis), theta (angle in rad or slide in m of body 2 against body 1),
% theta_prev, T1, T2 (joint frame in the bodies), T1world, T2world, P1, X1, Y1, Z1, P2, X2, Y2, Z2 (origin and tips of
% the unit axes in the world, as each body sees them).
%
% See also sim_addJoint, updateJoint
  joint = struct();
  joint.jointID = 0;
  joint.type = '';
  joint.jointType = 0;
  joint.mask = [];
  joint.body1id = 0;
  joint.body2id = 0;
  joint.constraintIndex = [];
  joint.numConstraints = 0;
  joint.numPreviousConstraints = 0;
  joint.pos = zeros(3, 1);
  joint.Xdir = zeros(3, 1);
  joint.Ydir = zeros(3, 1);
  joint.Zdir = zeros(3, 1);
  joint.theta = 0;
  joint.theta_prev = 0;
  joint.mu = 0.5;
  joint.T1 = eye(4);
  joint.T1world = eye(4);
  joint.T2 = eye(4);
  joint.T2world = eye(4);
  points = {'P1', 'X1', 'Y1', 'Z1', 'P2', 'X2', 'Y2', 'Z2'};
  for k = 1:numel(points)
    joint.(points{k}) = zeros(3, 1);
  end
end
