function B = mesh_dodecahedron()
% B = mesh_dodecahedron()   a regular dodecahedron with circumradius 1 and mass 1, J = 0.3094
%
% RPIsim has the inertia of edge length 1, 0.6074, which does not belong to this size.
%
% Example:
%   B = mesh_dodecahedron();
%   B.u = [0; 0; 2];
%
% See also scale_mesh, Body_mesh
  [vertices, faces] = stickslip_mex('mesh_solid', 'dodecahedron');
  B = Body_mesh(vertices', faces');
  B.name = 'dodecahedron';
end
