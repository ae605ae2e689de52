function m = ss_material(w, varargin)
% m = ss_material(w, name, value, ...)   adds a material to a world, to be given to shapes
%
% m = ss_material(w, 'mu', 0.3, 'restitution', 0.5, 'mu_rolling', 0.001, 'name', 'steel')
% m = ss_material(w, [m1 m2], 'mu', 0.1, ...) sets what holds between two materials; without it,
% friction is the geometric mean and restitution the larger of the two. Material 0 is the default one.
% Torsional friction is 'mu_torsion', and its 'spin_coupling' with sliding 'independent' or 'ellipsoid';
% 'grain' is a direction in the frames of its shapes, across which friction is 'mu_across';
% between two materials there are also 'mu_static', 'stiffness', 'damping' and 'adhesion'.
%
% Example:
%   w = ss_world();
%   ice = ss_material(w, 'mu', 0.02);
%   ss_body(w, 'plane', [], 'material', ice);
%
% See also ss_body
  if nargin > 1 && isnumeric(varargin{1})
    m = varargin{1};
    stickslip_mex('world_pair', w.id, m(1), m(2), ss_fields(varargin(2:end)));
  else
    m = stickslip_mex('world_material', w.id, ss_fields(varargin));
  end
end
