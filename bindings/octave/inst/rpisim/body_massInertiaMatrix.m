function M = body_massInertiaMatrix(B)
% M = body_massInertiaMatrix(B)   6 x 6: mass, and the inertia in the world frame
%
% Example:
%   M = body_massInertiaMatrix(mesh_cube());
%
% See also preDynamics
  R = qt2rot(B.quat);
  M = [B.mass * eye(3), zeros(3); zeros(3), R * B.J * R'];
end
