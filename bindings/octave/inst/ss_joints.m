function s = ss_joints(w)
% s = ss_joints(w)   errors and coordinates of all joints of a world
%
% s = ss_joints(w): s.error (m or rad, largest violation of each joint), s.speed_error, s.coordinates
% and s.rates (2 x joints; angles in rad, slides in m; NaN where there is none).
%
% Example:
%   w = ss_world('hanging-rod');
%   ss_step(w, 100);
%   s = ss_joints(w);
%   max(s.error)
%
% See also ss_joint
  s = stickslip_mex('world_joints', w.id);
end
