function B = mesh_read_poly_file(filename)
% B = mesh_read_poly_file(filename)   a mesh from a file: RPIsim's .poly, or .obj or .stl
%
% Unlike RPIsim's reader, it takes faces counted from 0 and faces with more than three corners.
%
% Example:
%   arm = mesh_centre(mesh_read_poly_file('arm.poly'));
%
% See also Body_mesh, mesh_centre
  [vertices, faces] = stickslip_mex('mesh_read', filename);
  B = Body_mesh(vertices', faces');
  B.name = filename;
end
