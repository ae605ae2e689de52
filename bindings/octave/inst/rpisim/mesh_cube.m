function B = mesh_cube()
% B = mesh_cube()   a cube with edge 1 and mass 1, J = 1/6
%
% Example:
%   ground = scale_mesh(mesh_cube(), 2);
%   ground.dynamic = false;
%
% See also scale_mesh, mesh_rectangularBlock
  B = mesh_rectangularBlock(1, 1, 1);
  B.name = 'cube';
end
