function B = mesh_rectangularBlock(width, length, height)
% B = mesh_rectangularBlock(width, length, height)   a block along x, y and z, of mass 1
%
% Example:
%   ramp = mesh_rectangularBlock(1, 2, 0.1);
%
% See also mesh_cube, body_setMass
  [vertices, faces] = stickslip_mex('mesh_solid', 'cube');
  B = Body_mesh(vertices' .* repmat([width, length, height], size(vertices, 2), 1), faces');
  B.name = 'block';
end
