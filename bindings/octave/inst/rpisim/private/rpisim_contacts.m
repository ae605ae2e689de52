function contacts = rpisim_contacts(c)
% rpisim_contacts  Contacts of the library in RPIsim's form: the point is on body 1, rows.
  n = numel(c.gaps);
  contacts = [];
  if n == 0
    return
  end
  p1 = c.points - 0.5 * c.normals .* repmat(c.gaps, 3, 1);
  contacts = struct('body1_id', num2cell(c.bodies(1, :)), 'body2_id', num2cell(c.bodies(2, :)), ...
                    'p1', num2cell(p1', 2)', 'normal', num2cell(c.normals', 2)', 'psi_n', num2cell(c.gaps));
end
