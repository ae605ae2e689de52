function j = ss_joint(w, kind, a, b, anchor, axis, varargin)
% j = ss_joint(w, kind, a, b, anchor, axis, ...)   adds a joint between two bodies; body 0 is the world
%
% j = ss_joint(w, 'revolute', a, b, anchor, axis, name, value, ...) returns the number of the joint.
% Kinds: fixed, revolute, prismatic, cylindrical, universal, ball, planar, distance, screw, gear.
% anchor and axis are in the world, at the start.
%
% Properties: 'axis2' (universal, gear), 'anchor_b' (distance), 'ratio' (screw, gear), 'compliance',
% 'bodies_collide', 'name'; and what acts along its coordinate: 'limits' ([lower upper]), 'motor'
% ('velocity', 'position', 'drive'), 'target', 'target_speed', 'max_force', 'stiffness', 'damping',
% 'rest', 'force', 'friction', 'load_friction', 'armature', 'motor_stiffness', 'motor_damping'.
%
% ss_joint(w, j, name, value, ...) changes the latter of joint j, between steps or in a user function.
%
% Example:
%   w = ss_world();
%   b = ss_body(w, 'box', [1 0.1 0.1], 'position', [0.5 0 0]);
%   j = ss_joint(w, 'revolute', 0, b, [0 0 0], [0 1 0], 'motor', 'velocity', 'target_speed', 1, 'max_force', 50);
%
% See also ss_body, ss_joints
  if isnumeric(kind)
    given = {};
    if nargin > 2
      given = {a};
    end
    if nargin > 3
      given{end + 1} = b;
    end
    if nargin > 4
      given{end + 1} = anchor;
    end
    if nargin > 5
      given{end + 1} = axis;
    end
    j = kind;
    stickslip_mex('world_law', w.id, j, 1, ss_fields([given, varargin]));
    return
  end
  s = ss_fields(varargin);
  s.kind = kind;
  s.a = a;
  s.b = b;
  if nargin > 4
    s.anchor = anchor;
  end
  if nargin > 5
    s.axis = axis;
  end
  j = stickslip_mex('world_joint', w.id, s);
end
