function B = mesh_rectangularBlock(width, length, height)
% B = mesh_rectangularBlock(width, length, height)   a block along x, y and z, of mass 1
%
% Its vertices are in RPIsim's order: z changes first, then y, then x.
%
% Example:
%   ramp = mesh_rectangularBlock(1, 2, 0.1);
%
% See also mesh_cube, body_setMass
  [z, y, x] = ndgrid([-0.5 0.5] * height, [-0.5 0.5] * length, [-0.5 0.5] * width);
  faces = [1 2 4; 1 4 3; 5 7 8; 5 8 6; 1 5 6; 1 6 2; 3 4 8; 3 8 7; 1 3 7; 1 7 5; 2 6 8; 2 8 4];
  B = Body_mesh([x(:), y(:), z(:)], faces);
  B.name = 'block';
end
