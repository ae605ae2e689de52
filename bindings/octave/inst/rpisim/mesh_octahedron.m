function B = mesh_octahedron()
% B = mesh_octahedron()   a regular octahedron with circumradius 1 and mass 1, J = 0.2
%
% RPIsim has the inertia of edge length 1, 0.1, which does not belong to this size.
%
% Example:
%   B = mesh_octahedron();
%   B.u = [0; 0; 2];
%
% See also scale_mesh, Body_mesh
  [vertices, faces] = stickslip_mex('mesh_solid', 'octahedron');
  B = Body_mesh(vertices', faces');
  B.name = 'octahedron';
end
