function [B, centre] = mesh_centre(B)
% [B, centre] = mesh_centre(B)   moves the vertices so that the origin is the centre of mass, and B.u with it
%
% The solid stays where it is in the world. Not in RPIsim, whose scripts did it by hand, if at all.
%
% Example:
%   B = mesh_centre(mesh_read_poly_file('part.poly'));
%
% See also Body_mesh
  [volume, centre, inertia] = stickslip_mex('mesh_mass', B.verts_local', B.faces(:, 1:3)');
  B.verts_local = B.verts_local - repmat(centre', size(B.verts_local, 1), 1);
  B.J = inertia * (B.mass / volume);
  B.u = B.u(:) + qtrotate(B.quat, centre);
  B = body_updateMesh(B);
end
