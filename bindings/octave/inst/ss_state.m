function s = ss_state(w, varargin)
% s = ss_state(w, name, value, ...)   where the bodies of a world are and how they move; sets it
%
% s = ss_state(w): s.time, and one column per body in s.positions (3), s.quaternions (4, scalar
% first), s.velocities (6: of the centre of mass and angular, world frame), s.forces (6, the user's),
% s.masses, s.inertias (9), s.centres (3).
% ss_state(w, 'velocities', V, ...) sets positions, quaternions, velocities or forces of all bodies,
% between steps or in a user function.
%
% Example:
%   w = ss_world('sphere-drop');
%   s = ss_state(w);
%   s.velocities(1, :) = 1;
%   ss_state(w, 'velocities', s.velocities);
%
% See also ss_step, ss_on
  if ~isempty(varargin)
    stickslip_mex('world_set', w.id, varargin{:});
  end
  if nargout > 0 || isempty(varargin)
    s = stickslip_mex('world_state', w.id);
  end
end
