function b = ss_body(w, shape, dimensions, varargin)
% b = ss_body(w, shape, size, name, value, ...)   adds a body with one shape to a world
%
% b = ss_body(w, shape, size, name, value, ...) returns the number of the body, from 1.
%
% shape        size
% 'sphere'     radius
% 'box'        edge lengths
% 'capsule'    [radius, length between the centres of the caps]
% 'cylinder'   [radius, length], along z
% 'ellipsoid'  half axes
% 'plane'      []: the half-space below z = 0 of its own frame; static
% 'hull'       {vertices 3 x n, faces 3 x m} of a convex polyhedron, or {points 3 x n}: their hull
% 'mesh'       {vertices, faces}; static or kinematic
% ''           []: no shape; ss_shape adds one or more
%
% Properties of the body: 'kind' ('dynamic', 'static', 'kinematic'; planes are static), 'position',
% 'quaternion' (scalar first), 'velocity' (6: linear, angular), 'force' (6, kept until changed,
% without gravity), 'mass', 'inertia' (3 x 3), 'gravity_scale', 'linear_damping', 'angular_damping',
% 'name'. Properties of the shape: 'density' (1000 unless a mass is given), 'material' (of
% ss_material), 'ghost', 'group', 'collides_with', 'colour', 'surface_velocity'. SI units.
%
% Example:
%   w = ss_world();
%   ss_body(w, 'plane', []);
%   b = ss_body(w, 'sphere', 0.1, 'density', 2000, 'position', [0 0 1]);
%
% See also ss_world, ss_shape, ss_joint, ss_material
  given = ss_fields(varargin);
  of_shape = {'density', 'material', 'ghost', 'group', 'collides_with', 'colour', 'surface_velocity'};
  body = struct();
  look = struct();
  names = fieldnames(given);
  for k = 1:numel(names)
    if any(strcmp(names{k}, of_shape))
      look.(names{k}) = given.(names{k});
    else
      body.(names{k}) = given.(names{k});
    end
  end
  if strcmp(shape, 'plane') && ~isfield(body, 'kind')
    body.kind = 'static';
  end
  if ~isfield(look, 'density') && ~isfield(body, 'mass') && ~strcmp(shape, 'plane')
    look.density = 1000;
  end
  b = stickslip_mex('world_body', w.id, body);
  if ~isempty(shape)
    ss_shape(w, b, shape, dimensions, look);
  end
end
