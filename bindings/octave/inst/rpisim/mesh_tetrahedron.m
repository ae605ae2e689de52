function B = mesh_tetrahedron()
% B = mesh_tetrahedron()   a regular tetrahedron with circumradius 1 and mass 1, J = 2/15
%
% Example:
%   B = mesh_tetrahedron();
%   B.u = [0; 0; 2];
%
% See also scale_mesh, Body_mesh
  [vertices, faces] = stickslip_mex('mesh_solid', 'tetrahedron');
  B = Body_mesh(vertices', faces');
  B.name = 'tetrahedron';
end
