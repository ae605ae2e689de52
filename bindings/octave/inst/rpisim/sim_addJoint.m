function sim = sim_addJoint(sim, body1id, body2id, origin, axis, type)
% sim = sim_addJoint(sim, body1id, body2id, origin, axis, type)   joins two bodies, given by their numbers
%
% origin and axis are in the world. Types: 'fixed' or 'rigid', 'revolute', 'prismatic', 'cylindrical', 'spherical'. One
% of the bodies may be static. Bodies that are joined do not collide with each other.
%
% Example:
%   sim = sim_addJoint(sim, 1, 2, [0; 0; 0.25], [0; 1; 0], 'revolute');
%
% See also newJoint, sim_addBody, joint_constraintError, plotJointError
  types = {'fixed', 'revolute', 'prismatic', 'cylindrical', 'spherical'};
  masks = {1:6, 1:5, [1 2 4 5 6], [1 2 4 5], 1:3};
  if strcmp(type, 'rigid')
    type = 'fixed';
  end
  kind = find(strcmp(type, types));
  if isempty(kind)
    error('stickslip:usage', 'sim_addJoint: unknown type ''%s''; there are %s', type, strjoin(types, ', '));
  end
  ids = [body1id, body2id];
  if any(ids < 1 | ids > sim.num_bodies | ids ~= round(ids))
    error('stickslip:usage', 'sim_addJoint: bodies %g and %g; there are %d', body1id, body2id, sim.num_bodies);
  end
  if ~sim.bodies(body1id).dynamic && ~sim.bodies(body2id).dynamic
    error('stickslip:usage', 'sim_addJoint: a joint needs at least one dynamic body');
  end

  J = Joint();
  J.type = type;
  J.jointType = kind;
  J.mask = masks{kind};
  J.jointID = numel(sim.joints) + 1;
  J.body1id = body1id;
  J.body2id = body2id;
  J.numConstraints = numel(J.mask);
  J.numPreviousConstraints = sim.num_jointConstraints;
  J.constraintIndex = sim.num_jointConstraints + (1:J.numConstraints);
  J.pos = origin(:);
  J.Zdir = axis(:) / norm(axis);
  J.Xdir = arbitraryTangent(J.Zdir);
  J.Ydir = cross3(J.Zdir, J.Xdir);
  frame = [J.Xdir, J.Ydir, J.Zdir, J.pos; 0 0 0 1];
  J.T1 = pose(sim.bodies(body1id)) \ frame;
  J.T2 = pose(sim.bodies(body2id)) \ frame;

  sim.num_jointConstraints = sim.num_jointConstraints + J.numConstraints;
  for id = ids
    sim.bodies(id).numJoints = sim.bodies(id).numJoints + 1;
  end
  if isempty(sim.joints)
    sim.joints = J;
  else
    sim.joints(end + 1) = J;
  end
  sim = updateJoint(sim, J.jointID);
end

function T = pose(B)
  T = [qt2rot(B.quat), B.u(:); 0 0 0 1];
end
