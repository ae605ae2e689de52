function c = Contact(body1_id, body2_id, p1, normal, psi_n)
% c = Contact(body1_id, body2_id, p1, normal, psi_n)   one contact, for collision detection of your own
%
% p1 is the point on body 1 and normal the unit normal from body 1 to body 2, both rows in the world frame; psi_n is the
% gap, negative when the bodies overlap.
%
% Example:
%   sim.contacts = Contact(1, 2, [0 0 0], [0 0 1], 0.01);
%
% See also collision_detection, Simulator
  c = struct('body1_id', body1_id, 'body2_id', body2_id, 'p1', p1, 'normal', normal, 'psi_n', psi_n);
end
