function c = ss_contacts(w)
% c = ss_contacts(w)   the contacts of the last step of a world
%
% c = ss_contacts(w), one column per contact: c.bodies (2; 0 = the world), c.points (3, halfway between
% the surfaces), c.normals (3, from the first body to the second), c.gaps, c.mu, c.normal_impulse (N s) and
% c.friction_impulse (3, on the second body).
%
% Example:
%   w = ss_world('box-pyramid');
%   ss_step(w);
%   c = ss_contacts(w);
%   sum(c.normal_impulse)
%
% See also ss_step, ss_last
  c = stickslip_mex('world_contacts', w.id);
end
